"""The memory of stages: hits, the oldest dropped, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lowering.cache import StageCache


def test_same_inputs_are_made_once_a_stage() -> None:
    cache, made = StageCache(), []

    def make() -> int:
        made.append(1)
        return len(made)

    assert [cache.get("a", "x", make), cache.get("a", "x", make)] == [1, 1]
    assert cache.get("b", "x", make) == 2
    assert cache.get("a", "y", make) == 3
    assert (cache.hits, cache.misses) == (1, 3)


def test_least_recently_used_is_dropped() -> None:
    cache = StageCache(most=2)
    for key in ("x", "y", "x", "z", "x", "y"):
        cache.get("a", key, lambda key=key: key)  # type: ignore[misc]
    # z pushed y out, x was used again before
    assert (cache.hits, cache.misses) == (2, 4)


def test_failed_stage_is_not_kept() -> None:
    cache = StageCache()
    with pytest.raises(ZeroDivisionError):
        cache.get("a", 1, lambda: 1 // 0)
    assert cache.get("a", 1, lambda: 7) == 7


def test_threads_get_equal_results() -> None:
    cache = StageCache()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda key: cache.get("a", key % 5, lambda: key % 5), range(200)))
    assert found == [key % 5 for key in range(200)]
