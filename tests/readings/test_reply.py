"""Replies survive being stored."""

import json

from conftest import position, reply
from evenhand.readings import Reply


def test_round_trip() -> None:
    made = reply(position("(C", 0.5, **{"\ud83d": 0.1, " ": 0.1}), position(")", 1.0))
    assert Reply.from_json(json.loads(json.dumps(made.as_json()))) == made
