"""Arrays by content."""

from __future__ import annotations

import numpy as np
import pytest

from engine.store import TensorStore, content_hash


def test_equal_arrays_are_kept_once() -> None:
    store = TensorStore()
    first = store.put(np.arange(6.0).reshape(2, 3))
    assert store.put(np.arange(6.0).reshape(2, 3)) == first
    assert len(store) == 1
    assert first in store
    assert list(store) == [first]


def test_dtype_and_shape_are_part_of_the_content() -> None:
    arrays = [np.zeros(4, np.float32), np.zeros(4, np.int32), np.zeros((2, 2), np.float32)]
    assert len({content_hash(array) for array in arrays}) == 3


def test_order_in_memory_is_not_part_of_the_content() -> None:
    array = np.arange(6).reshape(2, 3)
    assert content_hash(array) == content_hash(np.asfortranarray(array))


def test_kept_arrays_are_read_only_and_the_givers_stay_writable() -> None:
    store, array = TensorStore(), np.ones(3)
    kept = store.get(store.put(array))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 2
    array[0] = 1


def test_unknown_content_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        TensorStore().get("0" * 32)


def test_a_repeated_value_is_hashed_without_being_written_out() -> None:
    huge = np.broadcast_to(np.float32(0.5), (1 << 20, 1 << 20))
    assert content_hash(huge) != content_hash(np.broadcast_to(np.float32(1), huge.shape))
    store = TensorStore()
    assert store.get(store.put(huge)).shape == huge.shape
