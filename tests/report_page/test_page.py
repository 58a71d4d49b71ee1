"""A page as a text: what is in it, what is escaped, what it is allowed to run."""

import base64
import hashlib
import re
from typing import Literal

import pytest

from evenhand.report.page import build
from evenhand.report.page.blocks import Block, Chart, Command, Section, Shown, Table, Text
from evenhand.report.page.build import page
from report_pages import attributes_in, figures_in, ids_in

HOSTILE = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    "</style><img src=x onerror='window.ran = 1'>",
    '"><svg onload="window.ran = 1">',
    "' onmouseover='window.ran = 1",
    "javascript:window.ran=1",
    "<!-- <b>unclosed",
    "]]> &lt; &amp; {{ 7 * 7 }} {% raw %}",
    "\x00\x1b[31mred\x1b[0m \u202ereversed\u202c \ud800 \ufffe",
)
SPEC = {
    "data": {"values": [{"name": "a", "value": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "value", "type": "quantitative"}, "y": {"field": "name", "type": "nominal"}},
}


def everything(text: str) -> str:
    """Return a page that has a text in every place where a text can be."""
    shown = Shown(text, "a/b")
    table = Table(text, (text, text), ((text, shown), (shown, text)), note=text)
    kinds: tuple[Literal["plain", "headline", "caution", "note"], ...] = ("plain", "headline", "caution", "note")
    blocks: tuple[Block, ...] = (
        *(Text(text, kind) for kind in kinds),
        Text((text, shown, text), "headline"),
        Command(text, text),
        table,
        Chart("a-chart", text, text, SPEC, table),
    )
    return page(text, (Section("one", text, blocks, help=text),), (text, text))


def test_no_text_becomes_markup() -> None:
    plain = everything("plain")
    tags = re.findall(r"<[^>]*", plain)
    for text in HOSTILE:
        found = everything(text)
        assert len(re.findall(r"<[^>]*", found)) == len(tags), text
        assert found.count("<script") == plain.count("<script")
        names = {name for _, name, _ in attributes_in(found)}
        assert not [name for name in names if name.startswith("on") or name == "style"], text
        assert all(value.startswith("#") for _, name, value in attributes_in(found) if name == "href")


def test_what_html_cannot_hold_is_replaced() -> None:
    found = everything(HOSTILE[-1])
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", found)
    assert "\N{REPLACEMENT CHARACTER}[31mred" in found


def test_only_its_own_scripts_and_styles_are_allowed() -> None:
    found = everything("plain")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', found)
    assert policy is not None
    allowed = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    for tag in ("script", "style"):
        inside = re.findall(f"<{tag}>(.*?)</{tag}>", found, re.DOTALL)
        hashes = set(re.findall(r"'sha256-[^']*'", next(p for p in allowed.split("; ") if p.startswith(f"{tag}-src"))))
        assert hashes == {_hash(text) for text in inside}
    assert not re.search(r"https?://(?!www\.w3\.org/)", found)
    assert not re.search(r"\b(?:src|href)=[\"'](?!#)", found)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("bad", ["a </script> b", "a <!-- b"])
def test_a_script_that_would_end_early_is_refused(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = build._file
    monkeypatch.setattr(build, "_file", lambda name: bad if name == "page.js" else real(name))
    with pytest.raises(ValueError, match="script or style"):
        page("a title", ())


def test_an_anchor_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice: one"):
        page("a title", (Section("one", "One"), Section("two", "Two", sections=(Section("one", "One again"),))))


def test_headings_go_down_one_step_at_a_time_and_ids_are_unique() -> None:
    deep = Section("a", "A", sections=(Section("b", "B", sections=(Section("c", "C"),)),))
    found = page("a title", (deep, Section("d", "D")))
    assert [int(level) for level in re.findall(r"<h(\d)", found)] == [1, 2, 3, 4, 2]
    ids = ids_in(found)
    assert len(ids) == len(set(ids))


def test_contents_lead_to_sections_and_leave_out_what_is_not_listed() -> None:
    inner = (Section("b", "B"), Section("c", "C", listed=False))
    found = page("a title", (Section("a", "A", sections=inner),))
    contents = found[found.index("<nav") : found.index("</nav>")]
    assert re.findall(r'href="#(\w+)"', contents) == ["a", "b"]
    assert 'id="c"' in found


def test_figures_know_their_run_and_file() -> None:
    own = Shown("3.0%", "c", run=2, file="other.json")
    inner = Section("b", "B", (Text(("x ", Shown("2.0%", "b"), own)),), file="inner.json")
    found = page("t", (Section("a", "A", (Text((Shown("1.0%", "a"),)),), (inner,), run=1, file="outer.json"),))
    assert [(one.text, one.path, one.run, one.file) for one in figures_in(found)] == [
        ("1.0%", "a", 1, "outer.json"),
        ("2.0%", "b", 1, "inner.json"),
        ("3.0%", "c", 2, "other.json"),
    ]


def test_a_table_has_a_caption_and_headings() -> None:
    table = Table("The caption", ("Name", "n"), (("first", Shown("1", "a")), ("second", Shown("2", "b"))))
    found = page("t", (Section("a", "A", (table,)),))
    assert "<caption>The caption</caption>" in found
    assert found.count('<th scope="col"') == 2
    assert found.count('<th scope="row"') == 2
    assert found.count('<td class="number"') == 2


def test_a_chart_says_what_it_shows_and_carries_its_table() -> None:
    table = Table("What it shows", ("Name", "n"), (("a", Shown("1", "x")),))
    found = page("t", (Section("a", "A", (Chart("c", "A title", "What is to be seen.", SPEC, table),)),))
    assert 'role="img" aria-label="What is to be seen."' in found
    assert "<svg" in found
    assert "What it shows" in found[found.index("<details><summary>The figures") :]
