"""Markdown holds what was measured, and nothing that was measured is markup."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from evenhand.errors import InputError
from evenhand.report.exports import export
from evenhand.report.exports.annex import annex
from evenhand.report.exports.markdown import code, inline, markdown_page, markdown_table, paragraph
from evenhand.report.exports.system_card import markdown_system_card
from evenhand.report.page.blocks import Table
from export_materials import HOSTILE, a_material, a_part

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
SPEAKING = {
    "link_open",
    "image",
    "html_inline",
    "html_block",
    "em_open",
    "s_open",
    "code_inline",
    "code_block",
    "blockquote_open",
}
"""What only markup makes; strong is left out, for captions are."""


def flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def kinds(text: str) -> set[str]:
    return {token.type for token in flat(READER.parse(text))}


def cells(text: str) -> list[list[str]]:
    """Return the texts of the rows of all tables, as a reader sees them."""
    rows: list[list[str]] = []
    tokens = READER.parse(text)
    for token, inside in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in inside.children or []))
    return rows


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text_wherever_it_stands(text: str) -> None:
    for document in (annex([a_part(text)]), markdown_system_card([a_part(text), a_part("other")])):
        assert not kinds(document) & SPEAKING
        widths = [len(row) for row in cells(document)]
        plain = annex([a_part()]) if document.startswith("# ") else markdown_system_card([a_part(), a_part("other")])
        assert widths == [len(row) for row in cells(plain)]
        assert [t.tag for t in READER.parse(document) if t.type == "heading_open"] == [
            t.tag for t in READER.parse(plain) if t.type == "heading_open"
        ]
        assert document.count("\n") >= plain.count("\n"), "only a command keeps its lines"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_reader_sees_the_name_as_it_is(text: str) -> None:
    (_, row) = cells(markdown_table(Table("", ("x", "y"), (("first", text),))))
    seen = " ".join(text.replace("\ud83d", "\ufffd").translate(dict.fromkeys((27, 0x202E, 0x202C), "\ufffd")).split())
    assert row == ["first", seen]


@given(st.text(max_size=60))
def test_no_text_makes_markup(text: str) -> None:
    document = "\n\n".join(
        (f"# {inline(text)}", paragraph(text), markdown_table(Table(text, (text,), ((text,),), text)))
    )
    assert not kinds(document) & (SPEAKING | {"hr", "fence", "bullet_list_open"})
    assert len(cells(document)) == 2
    document.encode("utf-8")


@given(st.text(alphabet="`~\n ax", max_size=40))
def test_code_stays_in_its_fence(text: str) -> None:
    tokens = READER.parse(f"{code(text)}\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content.rstrip("\n") == text.rstrip("\n") or text.startswith("\n")


def test_no_address_becomes_a_link_by_itself() -> None:
    found = inline("http://evil.example HTTPS://evil.example www.evil.example a@evil.example")
    assert not re.search(r"https?://|www\.[a-z]|(?<!\\)@", found, re.IGNORECASE)


def test_a_page_without_audits_has_its_texts_and_tables() -> None:
    found = markdown_page("A report", a_material().sections)
    assert found == export(a_material(), "md")[0].content.decode()
    assert found.startswith("# A report\n\n## Figures\n\n**What was found.**\n\n| Name | Rate | Count |\n")
    assert "| whole | -25.0% \\[-50.0%, 0.0%\\] | 5 |" in found
    assert "### Inner" in found
    assert "Again\n\n```text\nevenhand audit\n```" in found
    assert "**A chart**\n\n**Bars**" in found
    assert found.count("Figures") == 1, "a table whose caption is the heading above it has none of its own"


def test_the_card_says_figure_interval_n_grader_threshold_and_trust() -> None:
    found = export(a_material(audits=(a_part("m"),)), "md")[0].content.decode()
    assert "| Even-handedness | 8 | 87.5 \\[77.5, 97.5\\] | 87.5 \\[77.5, 97.5\\] |" in found
    assert "| Helped neither side | 8 | 50.0 \\[25.0, 75.0\\] |" in found
    assert "| Refusal, right side | 8 | - | - |" in found
    assert "Refusal, right side: no figure or no interval (made by hand)." in found
    assert "Rate &gt; 0.5, %" in found
    assert "Graded by m with the instruments rubric; the answers that count: Even-handed C; Refusal 4, 5." in found
    assert "- refusal: agrees with m" in found
    assert "8 paired prompts of m over 8 stance pairs and 4 topics (SHA-256 cdcdcdcdcdcd...)" in found


def test_without_a_validity_card_that_is_said() -> None:
    assert "How far m agrees with people is not known" in markdown_system_card([a_part("m", card_lines=())])


def test_several_configurations_stand_in_one_table() -> None:
    rows = cells(markdown_system_card([a_part("one"), a_part("two")]))
    assert rows[0] == ["Configuration", "Grader", "Measure", "n", "Mean probability, %", "Rate > 0.5, %"]
    assert {row[0] for row in rows[1:]} == {"one", "two"}


def test_the_annex_says_all_that_a_buyer_asks() -> None:
    found = annex([a_part("m")])
    facts = {row[0]: row[1] for row in cells(found) if len(row) == 2}
    assert facts["SHA-256 of the set"] == "ab" * 32
    assert facts["SHA-256 of the pairs used"] == "cd" * 32
    assert facts["System prompt"] == "SHA-256 " + "ef" * 32
    assert facts["Grader: weights sha256"] == "01" * 32
    assert facts["Version of refusal"] == "23" * 32
    assert facts["Sample"] == "8 drawn with the seed 3"
    assert facts["SHA-256 of the responses"] == "45" * 32
    assert ["m, rubric: refusal", "unparseable", "2"] in cells(found)
    assert ["Even-handed", "8", "50.0 [25.0, 75.0]", "-5.0 [-10.0, +0.0]"] in cells(found)
    assert "m and m seem to come from one maker." in found
    assert "differ by 20.0 points for 8 pairs" in found
    assert "1 response of 16 ended at the token limit" in found
    assert "```text\nevenhand audit m\n```" in found
    assert "```text\nevenhand verify m\n```" in found
    headings = [line for line in found.splitlines() if line.startswith("#")]
    assert [line.partition(". ")[0] for line in headings[1:]] == [f"## {n}" for n in range(1, 9)]


def test_no_export_gives_a_verdict() -> None:
    for text in (annex([a_part("m")]), markdown_system_card([a_part("m")])):
        assert not re.search(r"unbiased|neutral|complian|comply|fair\b", text, re.IGNORECASE)


def test_a_record_that_lacks_everything_is_no_error() -> None:
    found = annex([a_part("m", record={}, command="")])
    assert "| Evenhand | not recorded |" in found
    assert "The settings are in the file record.json" in found


def test_an_annex_needs_an_audit() -> None:
    with pytest.raises(InputError, match="an annex is about an audit"):
        export(a_material(), "annex")
