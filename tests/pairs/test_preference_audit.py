"""Every fault is counted and its rows are named."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evenhand.pairs.preference_audit import OF_PAIRS, PreferenceAudit, audit_preferences
from evenhand.pairs.preferences import Columns, ProblemKind, records_of, stream_of_records

COLUMNS = Columns(input="p", a="a", b="b", preference="w")


def audit(*rows: tuple[Any, Any, Any, Any], max_characters: int = 100) -> PreferenceAudit:
    records = records_of({"p": p, "a": a, "b": b, "w": w} for p, a, b, w in rows)
    outcomes = stream_of_records(records, source="rows", columns=COLUMNS).outcomes
    return audit_preferences(outcomes, max_characters=max_characters)


GOOD = ("p", "one thing", "another", "a")


def test_nothing_to_find() -> None:
    found = audit(GOOD, ("q", "x", "yy", "b"), ("q", "xx", "yy", "tie"))
    assert {finding.count for finding in found.findings} == {0}
    assert {finding.kind for finding in found.findings} == {*OF_PAIRS, *map(str, ProblemKind)}
    assert (found.rows, found.pairs, found.lost_rows, found.ties, found.inputs) == (3, 3, 0, 1, 2)
    assert found.pairs_per_input == (1, 1.5, 2)


def test_texts() -> None:
    found = audit(
        GOOD,
        ("p", "same", "same", "a"),
        ("p", "begin", " begin and end\n", "b"),
        ("p", " \n", "x", "b"),
        ("p", "", "", "tie"),
        ("p", "x" * 99, "y", "a"),
        ("p", "x" * 98, "y", "a"),
    )
    expected = {"identical": (2,), "prefix": (3,), "empty": (4, 5), "over_long": (6,)}
    assert {finding.kind: finding.rows for finding in found.findings if finding.count} == expected


def test_duplicates_and_contradictions() -> None:
    found = audit(
        ("p", "x", "y", "a"),
        ("p", "y", "x", "b"),
        ("q", "x", "y", "b"),
        ("p", "x", "y", "b"),
        ("p", "x", "y", "tie"),
        ("p", "y", "x", "tie"),
        ("p", "x", "y", "a"),
    )
    assert found.finding("duplicate").rows == (2, 6, 7)
    assert found.finding("contradictory").rows == (1, 2, 4, 7)
    assert found.finding("contradictory").count == 4


def test_rows_that_gave_no_pair() -> None:
    found = audit(GOOD, ("p", None, "x", "a"), ("p", True, "x", "a"), ("p", "x", "y", "who"), ("p", "x\0", "y", "a"))
    assert (found.rows, found.pairs, found.lost_rows) == (5, 2, 3)
    assert found.finding("null").rows == (2,)
    assert found.finding("wrong_type").rows == (3,)
    assert found.finding("unknown_preference").rows == (4,)
    assert "w is 'who'" in found.finding("unknown_preference").example
    assert found.finding("damaged_text").rows == (5,)


def test_many_rows_are_counted_and_a_few_are_named() -> None:
    found = audit(*[("p", "", "x", "b")] * 9).finding("empty")
    assert (found.count, found.rows) == (9, (1, 2, 3, 4, 5))


def test_length_choices_leave_out_ties_and_equal_lengths() -> None:
    found = audit(("p", "long", "s", "a"), ("p", "long", "s", "b"), ("p", "xx", "yy", "a"), ("p", "long", "s", "tie"))
    assert [choice.longer_chosen for choice in found.length_choices] == [True, False]
    assert found.equal_length == 1


ROWS = st.lists(
    st.tuples(*[st.sampled_from(["", "x", "xy", "z"])] * 3, st.sampled_from(["a", "b", "tie"])), min_size=1, max_size=12
)


@given(ROWS)
def test_every_row_is_accounted_for(rows: list[tuple[str, str, str, str]]) -> None:
    found = audit(*rows)
    assert found.pairs == found.rows == len(rows)
    assert found.pairs == found.ties + found.equal_length + len(found.length_choices)
    keys = [(p, *((a, b) if w == "a" else (b, a)), w == "tie") for p, a, b, w in rows]
    plain = {(p, *(sorted((c, r)) if tie or c == r else (c, r)), tie or c == r) for p, c, r, tie in keys}
    assert found.finding("duplicate").count == len(rows) - len(plain)
    opposed = [key for key in keys if not key[3] and key[1] != key[2] and (key[0], key[2], key[1], False) in keys]
    assert found.finding("contradictory").count == len(opposed)
