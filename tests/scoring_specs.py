"""Scoring specs made by hand."""

from typing import Any

from evenhand.report.scoring_spec import Ceiling, FitSettings, HeldOut, ScoringSpec, SpecQuestion
from evenhand.statistics import Estimate

SOME = Estimate(0.8, 0.75, 0.85, 400, 300, "bootstrap")
HELD_OUT = HeldOut(SOME, SOME, SOME, 0.03, 0.97)


def question(name: str, weight: float, **changes: Any) -> SpecQuestion:
    values: dict[str, Any] = {
        "id": name,
        "text": f"Is it {name}?",
        "tags": ("form",),
        "direction": None,
        "weight": weight,
        "estimate": Estimate(weight, weight - 0.1, weight + 0.1, 400, 300, "sandwich"),
        "standard_weight": 2 * weight,
        "centre": 5.0,
        "abstained_weight": 0.0,
        "stability": 0.9,
        "selected": True,
        "pairs": 390,
    }
    return SpecQuestion(**{**values, **changes})


def spec(*questions: SpecQuestion) -> ScoringSpec:
    return ScoringSpec(
        grader="g",
        protocol="blind",
        questions=questions or (question("kind", 0.3), question("long", -0.1), question("odd", 0.0)),
        held_out=HELD_OUT,
        length=HELD_OUT,
        best_question="kind",
        best_single=HELD_OUT,
        gain_over_length=SOME,
        ceiling=Ceiling(SOME, 0.9, 0.85),
        fit=FitSettings(0.01, 0.25, 0.5, "least", 10, 400, ((0.1, 0.6, 0.01), (0.01, 0.5, 0.01)), 0.1, 50, 0.75, False),
        pairs=400,
        ties=3,
        inputs=300,
        provenance={"seed": 0},
        remarks=("a remark",),
    )
