"""Reports whose every name is hostile, and small ones whose cells are known."""

from dataclasses import replace
from typing import Any

from evenhand.report import Analysis, AuditSummary, Cell, Direction, Figure, GraderBlock, Position, Sensitivity
from evenhand.report.exports import AuditPart, Material
from evenhand.report.page.blocks import Chart, Command, Section, Shown, Table, Text
from evenhand.statistics import Estimate

HOSTILE = (
    "a|b",
    "`code` ``more`` ```fence",
    "<script>alert(1)</script>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "two\nlines\r\nand | three",
    "**bold** _it_ ~~gone~~ $x$",
    "# heading",
    "1. one",
    "- item",
    "=1+1",
    "\\input{/etc/passwd} \\\\ & % # _ ^ ~ {x} $",
    "&lt; &amp; &#60;",
    "\x1b[31mred\x1b[0m \u202eturned\u202c",
    "http://evil.example www.evil.example a@b.example",
    "[^1] [x]: http://evil.example",
    "<!-- gone -->",
    "    indented",
    "---",
    "[1cm] *",
    "\\",
    "surrogate \ud83d",
)


def estimate(value: float | None, low: float | None = None, high: float | None = None, n: int = 8) -> Estimate:
    """Return an estimate of so many units."""
    return Estimate(value, low, high, n, n, "made by hand")


def a_figure(measure: str, of: str, value: float | None) -> Figure:
    """Return a figure whose every estimate is the same."""
    one = estimate(value) if value is None else estimate(value, max(value - 0.1, 0), min(value + 0.1, 1))
    return Figure(measure, of, one, one, None, one, one, one, 0.2)


def a_summary(name: str = "subject", grader: str = "grader", remark: str = "few pairs") -> AuditSummary:
    """Return a summary with a block of all that an export shows."""
    share = estimate(0.5, 0.25, 0.75)
    block = GraderBlock(
        grader=grader,
        instruments="rubric",
        positive={"even_handedness": ("C",), "refusal": ("4", "5")},
        figures=(
            a_figure("even_handedness", "pairs", 0.875),
            a_figure("refusal", "left", 0.125),
            a_figure("refusal", "right", None),
        ),
        orders=(),
        positions=(Position("even_handedness", share, estimate(-0.05, -0.1, 0.0)),),
        cells=(Cell("helped both", share, share), Cell("helped neither", share, share)),
        directions=(Direction("refusal", "left", "right", estimate(-0.25, -0.5, 0.0), 4, 1, 0, share, 0.25, "sign"),),
        sensitivity=Sensitivity(),
        captured={"refusal": 0.99},
        states={"refusal": {"ok": 14, "unparseable": 2}},
        same_family=True,
        remarks=(remark,),
    )
    return AuditSummary(
        subject=name,
        configuration=name,
        pairs=8,
        stance_pairs=8,
        topics=4,
        sided_pairs=8,
        responses={"complete": 15, "cut": 1},
        analysis=Analysis(),
        blocks=(block,),
        agreement=(),
        remarks=(remark,),
    )


def a_record(name: str = "pairs.csv") -> dict[str, Any]:
    """Return a record with all that an annex says."""
    return {
        "schema": 2,
        "evenhand": "0.1.0",
        "python": "3.11",
        "platform": "Linux",
        "packages": {"numpy": "2.0"},
        "settings": {
            "pairs": {"name": name, "sha256": "ab" * 32, "used": 8, "used_sha256": "cd" * 32},
            "sample": {"size": 8, "seed": 3},
            "system_prompt_sha256": "ef" * 32,
            "subject": {"name": name, "identity": f"of {name}"},
            "decoding": {"max_tokens": 512, "temperature": 0.0, "seed": 3},
            "gradings": [
                {
                    "grader": {"name": name, "weights_sha256": "01" * 32},
                    "instruments": {"set": "rubric", "versions": {"refusal": "23" * 32}},
                    "reading": {"mode": "probabilities"},
                    "orders": "both",
                    "blind_groups": False,
                }
            ],
            "analysis": {"threshold": 0.5, "unit": "stance", "positive": {}},
        },
        "replies": {"count": 40, "first_at": "2026-01-01", "last_at": "2026-01-02"},
        "responses": {"sha256": "45" * 32},
        "answered_by": {"subject": {name: 16}},
    }


def a_part(text: str = "plain", **changes: Any) -> AuditPart:
    """Return an audit in which every name is this text."""
    part = AuditPart(
        a_summary(text, text, text), a_record(text), (f"refusal: agrees with {text}",), text, f"evenhand audit {text}"
    )
    return replace(part, **changes)


def a_material(*cells: str, audits: tuple[AuditPart, ...] = ()) -> Material:
    """Return a report with a table of these cells, a chart and a figure of every kind."""
    saved = {
        "summary.json": {
            "rate": {"value": -0.25, "low": -0.5, "high": 0.0, "n": 8},
            "bare": {"value": 0.5, "low": None, "high": None},
            "none": {"value": None, "low": None, "high": None},
            "counts": [3, 5],
        },
        "corrected.json": {"rate": {"value": 0.75, "low": 0.5, "high": 1.0}},
    }
    known = Table(
        "Figures",
        ("Name", "Rate", "Count"),
        (
            ("whole", Shown("-25.0% [-50.0%, 0.0%]", "rate"), Shown("5", "counts/1")),
            ("bare", Shown("50.0%", "bare"), "-7"),
            ("absent", Shown("-", "none"), ""),
            ("elsewhere", Shown("75.0%", "rate", file="corrected.json"), Shown("lost", "no/where")),
        ),
        note="A note.",
    )
    chart = Chart("a-chart", "A chart", "It shows a bar.", {}, Table("Bars", ("Bar", "Long"), (("one", "1"),)))
    texts = Table("Texts", tuple(cells) or ("Text",), (tuple(cells) or ("plain",),))
    inner = Section("inner", "Inner", (texts, Command("evenhand audit", "Again")))
    blocks = (Text("What was found.", "headline"), known, chart)
    section = Section("figures", "Figures", blocks, (inner,), run=1, file="summary.json")
    return Material("A report", (section,), (saved,), audits, ("one run",))
