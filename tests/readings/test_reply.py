"""Replies survive being stored."""

import json
from dataclasses import fields

from conftest import position, reply
from evenhand.readings import Reply, TokenPosition


def test_round_trip() -> None:
    made = reply(position("(C", 0.5, **{"\ud83d": 0.1, " ": 0.1}), position(")", 1.0))
    assert Reply.from_json(json.loads(json.dumps(made.as_json()))) == made


def test_every_field_is_stored() -> None:
    assert set(Reply("", "stop", "m").as_json()) == {field.name for field in fields(Reply)}
    place = reply(position("(C", 0.5)).as_json()["positions"][0]
    assert set(place) == {field.name for field in fields(TokenPosition)}
