"""What is packed for the browser comes out again, and can't end the element that holds it."""

import base64
import gzip
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.reader import fragment, script, style
from evenhand.report.reader.packing import PAIRS_A_CHUNK, pack, packed, unpack
from reader_rows import AuditRows

HOSTILE = "</script><script>window.pwned=1</script><!-- \x00 \u202e \x1b[31m"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_everything_that_json_holds_comes_back(value: object) -> None:
    assert unpack(pack(value)) == value


def test_a_browser_opens_it_with_its_own_means() -> None:
    text = "half of a pair: \ud83d, a whole one: \U0001f600"
    raw = gzip.decompress(base64.b64decode(pack([text])))
    assert raw.isascii()
    assert json.loads(raw) == [text]


def test_the_same_values_become_the_same_bytes() -> None:
    value = {"a": list(range(1000)), "b": HOSTILE}
    assert pack(value) == pack(json.loads(json.dumps(value)))
    assert base64.b64decode(pack(value))[4:8] == b"\0\0\0\0", "the time is in it"


@pytest.mark.parametrize("count", [0, 1, PAIRS_A_CHUNK, PAIRS_A_CHUNK + 1])
def test_pairs_go_into_chunks_in_their_order(count: int) -> None:
    reader = packed("pair", "Pairs", {"ids": list(range(count))}, [], [{"n": n} for n in range(count)])
    chunks = [unpack(chunk) for chunk in reader.chunks]
    assert [pair["n"] for chunk in chunks for pair in chunk] == list(range(count))
    assert all(len(chunk) == PAIRS_A_CHUNK for chunk in chunks[:-1])
    assert (reader.pairs, unpack(reader.index)["size"]) == (count, PAIRS_A_CHUNK)


def test_no_number_that_json_lacks_is_packed() -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack(float("nan"))


def test_the_markup_holds_nothing_of_the_data_as_it_stands() -> None:
    from evenhand.report.reader.audit_reader import audit_reader

    rows = AuditRows(3, lambda number, letter: HOSTILE, graders=[HOSTILE], changes={0: {"topic": HOSTILE}})
    reader = audit_reader(rows.pairs(), rows.responses(), rows.judgments(), heading=HOSTILE, anchor='x" onload="y')
    markup = fragment(reader, 1)
    assert "window.pwned=1</script>" not in markup
    assert 'onload="y' not in markup
    assert not re.search(r"<script(?! type=\"text/plain\")", markup)


def test_a_part_that_is_no_base64_is_not_written() -> None:
    reader = packed("pair", "Pairs", {}, [], [])
    for broken in (
        replace(reader, index="</script>"),
        replace(reader, chunks=("a b",)),
        replace(reader, views=("\n",)),
    ):
        with pytest.raises(ValueError, match="not Base64"):
            fragment(broken, 1)


def test_script_and_style_may_stand_in_a_page() -> None:
    assert not re.search(r"</script|<!--|\beval\b|innerHTML|outerHTML|insertAdjacentHTML|new Function", script())
    assert not re.search(r"</style|@import|url\(", style())
