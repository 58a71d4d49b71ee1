"""A scoring spec survives being stored, and what is none is named."""

import json

import pytest

from evenhand.errors import InputError
from evenhand.report.scoring_spec import ScoringSpec
from scoring_specs import question, spec


def test_round_trip_through_json() -> None:
    assert ScoringSpec.from_json(json.loads(json.dumps(spec().as_json()))) == spec()


def test_score() -> None:
    made = spec(question("kind", 0.3), question("long", -0.1, abstained_weight=-0.7))
    assert made.score({"kind": 7.0, "long": 5.0}) == pytest.approx(0.6)
    assert made.score({"kind": None, "long": 8.0}) == pytest.approx(-0.3)
    assert made.score({"kind": 5.0}, abstained={"long"}) == pytest.approx(-0.7)
    assert made.score({"kind": 5.0, "unknown": 9.0}) == 0.0


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([], "s.json: is no scoring spec"),
        ({"kind": "other"}, "is no scoring spec"),
        ({**spec().as_json(), "schema": 2}, "schema: has the schema 2, and this version reads 1"),
        ({**spec().as_json(), "questions": [{}]}, "is damaged"),
        ({**spec().as_json(), "ceiling": None}, "is damaged"),
    ],
)
def test_what_is_none(values: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        ScoringSpec.from_json(values, source="s.json")
