"""LaTeX holds what was measured, and nothing that was measured is a command."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.exports import export
from evenhand.report.exports.latex import latex_table, latex_text
from evenhand.report.page.blocks import Table
from export_materials import HOSTILE, a_material, a_part

OURS = (
    r"\\(?:textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar|textasciigrave)\{\}"
    r"|\\char34\{\}|\\[{}$&#%_]|\{[\[\]*]\}|\{\}|\$-\$"
)


@given(st.text(max_size=60))
def test_nothing_is_left_that_latex_would_run(text: str) -> None:
    left = re.sub(OURS, "", latex_text(text))
    assert not re.search(r"[\\{}$&#%_^~<>|\"`\[\]*\n\r]", left)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_cell_stays_in_its_cell(text: str) -> None:
    found = latex_table(Table(text, (text, "n"), ((text, "1"), ("plain", text)), text), text, [text])
    body = found[found.index(r"\midrule") : found.index(r"\bottomrule")]
    ends = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(ends) == 2
    assert [len(re.findall(r"(?<!\\)&", line)) for line in ends] == [1, 1]
    commands = set(re.findall(r"\\[a-z]+", re.sub(OURS, "", found)))
    assert commands <= {
        *(r"\begin", r"\end", r"\centering", r"\caption", r"\label", r"\toprule", r"\midrule", r"\bottomrule"),
        *(r"\par", r"\medskip", r"\linewidth", r"\footnotesize"),
    }


def test_numbers_below_zero_have_a_minus_and_words_their_hyphens() -> None:
    assert latex_text("-0.5 [-1.0, +2.0] semi-annual 2024-10") == "$-$0.5 {[}$-$1.0, +2.0{]} semi-annual 2024-10"


def test_the_card_is_a_booktabs_table() -> None:
    found = export(a_material(audits=(a_part("m_1"),)), "latex")[0].content.decode()
    assert found.startswith(r"% In the preamble: \usepackage{booktabs,longtable}")
    assert r"\begin{tabular}{@{}lrrr@{}}" in found
    assert r"Even-handedness & 8 & 87.5 {[}77.5, 97.5{]} & 87.5 {[}77.5, 97.5{]} \\" in found
    assert r"graded" in found and r"m\_1" in found and "m_1" not in found
    assert r"refusal: agrees with m\_1" in found


def test_a_long_table_may_go_over_pages() -> None:
    found = latex_table(Table("Long", ("a", "b"), tuple((f"r{n}", str(n)) for n in range(60)), "Note."), "long")
    assert found.startswith(r"\begin{longtable}{@{}lr@{}}")
    assert found.count(r"\toprule") == 2
    assert r"\label{tab:long}" in found
    assert "Note." in found.split(r"\end{longtable}")[1]


def test_reports_without_audits_give_every_table() -> None:
    found = export(a_material(), "latex")[0].content.decode()
    assert found.count(r"\begin{table}") == found.count(r"\end{table}") == 3
