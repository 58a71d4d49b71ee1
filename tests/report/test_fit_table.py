"""The table of a scoring spec."""

from dataclasses import replace

from rich.console import Console

from evenhand.report.fit_table import fit_table
from evenhand.report.scoring_spec import Ceiling, ScoringSpec
from evenhand.statistics import Estimate
from scoring_specs import question, spec


def shown(made: ScoringSpec, width: int = 80) -> str:
    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(fit_table(made))
    return capture.get()


def test_what_it_shows() -> None:
    made = spec(
        question("[red]kind[/red]", 0.3, abstained_weight=-0.5),
        question("unsure", 0.0, estimate=Estimate.missing("flat"), selected=False, stability=0.1),
    )
    text = shown(made)
    words = " ".join(text.split())
    assert "400 pairs over 300 inputs, 3 of them ties" in words
    assert "[red]kind[/red] +0.300 +0.300 [+0.200, +0.400] +0.60 90%*" in words
    assert "can't be answered -0.500" in words
    assert "unsure 0 - +0.00 10%" in words
    assert "length alone 80.0 [ 75.0, 85.0] 80.0 [ 75.0, 85.0] 0.800" in words
    assert "without grader noise 90.0 85.0" in words
    assert "best single: kind" in words
    assert "slope 0.97" in words
    assert "a remark" in words
    assert max(map(len, text.splitlines())) <= 80


def test_no_ceiling_says_why() -> None:
    made = replace(spec(), ceiling=Ceiling(Estimate.missing("one order"), None, None))
    assert "not estimable: one order" in " ".join(shown(made).split())
    assert "without grader noise" not in shown(made)
