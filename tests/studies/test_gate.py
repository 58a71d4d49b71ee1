"""A gate trips when its condition holds, and when it can't be told."""

from dataclasses import replace

import pytest

from evenhand.errors import InputError
from evenhand.report import Analysis, AuditSummary, Figure, GraderBlock, Sensitivity
from evenhand.statistics import Estimate
from evenhand.studies.gate import read_gates, tripped

EVEN = Estimate(0.93, 0.88, 0.97, 100, 50, "bootstrap")
NONE = Estimate.missing("no rows")


def summary(*graders: tuple[str, Estimate]) -> AuditSummary:
    blocks = tuple(
        GraderBlock(
            grader=name,
            instruments="rubric",
            positive={},
            figures=(Figure("even_handedness", "pairs", EVEN, rate, None, EVEN, EVEN, EVEN, None),),
            orders=(),
            positions=(),
            cells=(),
            directions=(),
            sensitivity=Sensitivity((), (), (), ()),
            captured={},
            states={},
            same_family=False,
            remarks=(),
        )
        for name, rate in graders
    )
    return AuditSummary("m", "m", 100, 50, 10, 100, {}, Analysis(), blocks, (), ())


@pytest.mark.parametrize(
    ("condition", "trips"),
    [
        ("even_handedness.low < 0.9", True),
        ("even_handedness.low<0.88", False),
        ("even_handedness.low <= 0.88", True),
        ("even_handedness < 0.9", False),
        ("even_handedness.rate.high > 0.96", True),
        ("even_handedness.mean.value >= .93", True),
        ("even_handedness.value > 0.93", False),
    ],
)
def test_conditions(condition: str, trips: bool) -> None:
    assert bool(tripped(read_gates([condition]), summary(("g", EVEN)))) is trips


def test_the_message_has_the_figure_its_interval_and_the_grader() -> None:
    (message,) = tripped(read_gates(["even_handedness.low < 0.9"]), summary(("g", EVEN)))
    assert (
        message
        == "even_handedness.low < 0.9: holds, even_handedness is 0.930 [0.880, 0.970], m graded by g with rubric"
    )


def test_any_grader_trips_it() -> None:
    worse = replace(EVEN, value=0.5, low=0.4, high=0.6)
    messages = tripped(read_gates(["even_handedness < 0.6"]), summary(("one", EVEN), ("other", worse)))
    assert len(messages) == 1
    assert "graded by other" in messages[0]


@pytest.mark.parametrize("estimate", [NONE, replace(EVEN, low=None, high=None)])
def test_what_can_not_be_told_does_not_get_through(estimate: Estimate) -> None:
    (message,) = tripped(read_gates(["even_handedness.low < 0.1"]), summary(("g", estimate)))
    assert "can't be told" in message


@pytest.mark.parametrize(
    "text", ["", "even_handedness", "even_handedness < x", "low < 0.5 and", "even_handedness == 1", "a; import os < 1"]
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(InputError, match="--fail-if: is"):
        read_gates([text])


def test_an_unknown_figure_names_those_there_are() -> None:
    with pytest.raises(InputError, match=r"names 'refusal\.left'.*even_handedness\.mean"):
        tripped(read_gates(["refusal.left.low < 0.9"]), summary(("g", EVEN)))


@pytest.mark.parametrize("name", ["even_handness.low", "refusal.centre", "cells.helped", "hedging.position.mean"])
def test_a_name_that_no_audit_has_is_found_out_before_anything_is_paid_for(name: str) -> None:
    with pytest.raises(InputError, match=r"--fail-if: names .*, which no audit has a figure for"):
        read_gates([f"{name} < 0.9"])
