"""Gates: the grammar, figures by name, changes against another run, errors with their column."""

from __future__ import annotations

import pytest

from app.gates.gate import GateError, check_condition, figures_of, judge

RUN = {
    "makespan_cycles": 1200, "utilization": 0.25, "pes_used": 40, "fits": True,
    "sram": {"peak_allocated_bytes": 4096, "overflows": []}, "causes": {"wait-input": 7},
}  # fmt: skip
OLD = {**RUN, "makespan_cycles": 1000, "utilization": 0.5, "pes_used": 50}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("makespan > 1000", True), ("makespan > 1,200", False), ("makespan >= 1.2k", True),
        ("makespan_cycles==1200", True), ("utilization < 30 %", True), ("utilization<25%", False),
        ("sram > 3 KB", True), ("sram > 4KB", False), ("sram <= 0.5 MB", True),
        ("causes.wait-input != 7", False), ("fits == 0", False), ("sram.overflows > 0", False),
        ("makespan > 9 and pes > 100", False), ("makespan > 9 or pes > 100", True),
        ("pes > 100 and makespan > 9 or fits == 1", True),
        ("pes > 100 and (makespan > 9 or fits == 1)", False), ("PES > 1 or makespan > 0", False),
    ],
)  # fmt: skip
def test_condition(text: str, holds: bool) -> None:
    if text.startswith("PES"):
        with pytest.raises(GateError, match="did you mean 'pes'"):
            judge(text, RUN)
        return
    assert judge(text, RUN).holds is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("makespan>+5%", True), ("makespan > +20 %", False), ("makespan >= +200", True),
        ("utilization < -40%", True), ("utilization < -60%", False), ("pes < -5", True),
        ("utilization < -20 %", True), ("makespan > 1100", True),
    ],
)  # fmt: skip
def test_change_against_another_run(text: str, holds: bool) -> None:
    assert judge(text, RUN, OLD).holds is holds


def test_verdict_gives_both_sides_of_every_condition() -> None:
    verdict = judge("makespan > +5% and (sram > 3 KB)", RUN, OLD)
    assert [c.text for c in verdict.conditions] == ["makespan > +5%", "sram > 3 KB"]
    assert verdict.sentence() == (
        "makespan > +5% holds: makespan_cycles is 1,200, limit 1,050; "
        "sram > 3 KB holds: sram.peak_allocated_bytes is 4,096, limit 3,072"
    )


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("makespan >", 11, "a number is expected, not the end"),
        ("makespn > 3", 1, "did you mean 'makespan'?"),
        ("makespan = 3", 10, "'=' is not expected"),
        ("makespan > 3 foo", 14, "unit 'foo'"),
        ("makespan > 3 ; pes > 1", 14, "';' is not expected"),
        ("(makespan > 3", 14, "')' is expected, not the end"),
        ("makespan > 3 KB)", 16, "'and' or 'or' is expected, not )"),
        ("3 > makespan", 1, "a figure's name is expected, not 3"),
        ("makespan > +5%", 12, "+5% is a change: it needs two runs"),
        ("", 1, "a figure's name is expected, not the end"),
        ("__import__('os') > 1", 12, "''' is not expected"),
        ("open(x) > 1", 5, "a comparison such as > or <= is expected, not ("),
    ],
)
def test_error_points_at_the_column(text: str, column: int, said: str) -> None:
    with pytest.raises(GateError) as caught:
        judge(text, RUN)
    message = str(caught.value)
    assert said in message
    if "foo" not in text:
        assert message.startswith(f"column {column}: ")
        assert message.splitlines()[2].index("^") == 4 + column - 1


def test_syntax_is_checked_without_figures() -> None:
    check_condition("anything.goes > 3 KB or x < 1")
    check_condition("makespan > +5%", changes=True)
    with pytest.raises(GateError, match="it needs two runs"):
        check_condition("makespan > +5%")
    with pytest.raises(GateError, match="at most 500"):
        check_condition("x > 1 or " * 100 + "x > 1")


def test_compile_alone_has_no_makespan() -> None:
    with pytest.raises(GateError, match="a compile alone has no figures of an execution"):
        judge("makespan > 3", {"makespan_cycles": None, "pes_used": 3})


def test_figures_are_numbers_by_path() -> None:
    assert figures_of(RUN)["sram.overflows"] == 0.0
    assert figures_of({"a": None, "b": "text", "c": {"d": 2}}) == {"c.d": 2.0}
