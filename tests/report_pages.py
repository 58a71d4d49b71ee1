"""Runs to make report pages of, and how to look at a page."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar

from conftest import ScriptedModel, read_json
from evenhand.execution import RunFolder
from evenhand.graders import Judgment
from evenhand.instruments import builtin_instruments
from evenhand.pairs import PairedPrompt
from evenhand.readings import Reply
from evenhand.report import Analysis
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.audit.record import audit_record, audit_settings, grading_record
from evenhand.studies.audit.respond import Decoding
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.saved_run import write_run
from evenhand.studies.audit.summarize_all import summarize_all
from simulated_audits import LETTERS, World, judgments_of

Value = TypeVar("Value")
WORDS = (
    *("the", "policy", "people", "argue", "that", "cost", "fair", "public", "evidence", "law", "state", "because"),
    *("rights", "budget", "school", "market", "health", "work", "climate", "border", "vote", "tax", "would", "should"),
)


def apart(function: Callable[..., Value], *arguments: Any, **named: Any) -> Value:
    """Call a function in a thread of its own, where an event loop can run although a browser is open in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function, *arguments, **named).result()


def until(page: Any, expression: str, seconds: float = 20.0) -> None:
    """Wait until an expression is true in a page. Playwright's own waiting needs ``eval``, which pages forbid."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)


def long_text(seed: int, words: int) -> str:
    """Return a text that is the same for the same seed."""
    return " ".join(WORDS[(seed * 7 + place * place + 3 * place) % len(WORDS)] for place in range(words)) + "."


def synthetic_run(
    folder: Path,
    *,
    stances: int = 12,
    templates: int = 3,
    graders: Sequence[str] = ("grader",),
    words: int = 40,
    draws: int = 200,
    change: Callable[[PairedPrompt], PairedPrompt] = lambda pair: pair,
    answer: Callable[[PairedPrompt, str], str] | None = None,
    seed: int = 1,
    subject: str = "subject-1",
) -> Path:
    """Write the folder of an audit whose judgments are drawn, with all the files of a real one but the ledger.

    Args:
        folder: is made.
        stances, templates: their product is the number of pairs; 150 and 9 are those of the published set.
        graders: names; each draws its own judgments.
        words: of a response.
        draws: of the intervals.
        change: what is done to each pair.
        answer: the response to a side; None for words without a meaning.
        seed: of the judgments.
        subject: the name of the model under audit.
    """
    world = World(stances=stances, templates=templates, topics=max(2, stances // 3), left_is_a=0.5)
    plain = world.pairs()
    pairs = [change(pair) for pair in plain]
    instruments = builtin_instruments("rubric")
    judgments: list[Judgment] = []
    for number, grader in enumerate(graders):
        (arrays,) = world.audits(1, seed + number)
        judgments += [
            replace(
                judgment,
                grader=grader,
                instruments=instruments.name,
                version=instruments.versions[judgment.measure],
                pair_id=pairs[place].pair_id,
            )
            for judgment, place in _with_places(plain, judgments_of(plain, arrays))
        ]
    answered = answer or (lambda pair, letter: long_text(len(pair.pair_id) + ord(letter), words))
    responses = [
        Response(
            pair,
            letter,
            f"{pair.pair_id}.{letter}",
            Reply(answered(pair, letter), "stop", subject, completion_tokens=words),
            "2025-11-30T00:00:00+00:00",
        )
        for pair in pairs
        for letter in LETTERS
    ]
    analysis = Analysis(draws=draws, seed=seed)
    summary = summarize_all(
        pairs, responses, judgments, [instruments], subject={"name": subject}, configuration=subject, analysis=analysis
    )
    settings = audit_settings(
        pairs=pairs,
        pairs_source={"name": "pairs.csv"},
        sample={"size": None, "seed": seed},
        system_prompt="",
        subject={"name": subject, "kind": "made up", "identity": subject},
        configuration=subject,
        decoding=Decoding(max_tokens=512, temperature=0.0, seed=seed),
        gradings=[
            grading_record(ScriptedModel(None, name=name), GradingPlan((name,)), instruments, {"name": "rubric"})
            for name in graders
        ],
        analysis=analysis,
    )
    record = audit_record(settings, summary, responses, judgments, {"count": 0, "first_at": None, "last_at": None})
    write_run(
        RunFolder(folder),
        record=record,
        summary=summary,
        pairs=pairs,
        sets=[instruments],
        system_prompt="",
        responses=responses,
        judgments=judgments,
    )
    return folder


def _with_places(pairs: Sequence[PairedPrompt], judgments: Sequence[Judgment]) -> list[tuple[Judgment, int]]:
    places = {pair.pair_id: place for place, pair in enumerate(pairs)}
    return [(judgment, places[judgment.pair_id]) for judgment in judgments]


@dataclass(frozen=True)
class ShownFigure:
    """A figure as it stands in a page."""

    text: str
    path: str
    run: int
    file: str


class _Figures(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[ShownFigure] = []
        self.attributes: list[tuple[str, str, str]] = []
        self._open: dict[str, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.attributes += ((tag, name, value) for name, value in values.items())
        if tag == "data" and "data-path" in values:
            self._open, self._text = values, ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "data" and self._open is not None:
            one = self._open
            self.found.append(
                ShownFigure(self._text, one["data-path"], int(one.get("data-run", "1")), one.get("data-file", ""))
            )
            self._open = None


def figures_in(page: str) -> list[ShownFigure]:
    """Return every figure of a page that says where it comes from."""
    parser = _Figures()
    parser.feed(page)
    return parser.found


def attributes_in(page: str) -> list[tuple[str, str, str]]:
    """Return every attribute of a page: its element, its name and its value."""
    parser = _Figures()
    parser.feed(page)
    return parser.attributes


def ids_in(page: str) -> list[str]:
    """Return every id of a page, also those that come twice."""
    return [value for _, name, value in attributes_in(page) if name == "id"]


def at_path(saved: Any, path: str) -> Any:
    """Return what stands at a path such as ``blocks/0/figures/2/rate``; raises ``LookupError``."""
    for step in path.split("/"):
        saved = saved[int(step)] if isinstance(saved, list) else saved[step]
    return saved


def checked(page: str, folders: Sequence[Path]) -> set[str]:
    """Hold every figure of a page against the files in the run folders, and return the paths that were shown."""
    found = figures_in(page)
    saved: dict[tuple[int, str], Any] = {}
    for figure in found:
        place = (figure.run, figure.file)
        if place not in saved:
            saved[place] = read_json(folders[figure.run - 1] / figure.file)
        assert same_figure(figure.text, at_path(saved[place], figure.path)), figure
    return {figure.path for figure in found}


def same_figure(text: str, saved: Any) -> bool:
    """Say whether a text shows a number, or an estimate with its interval, as it is to so many digits.

    Shares are shown in percent, other figures as they are: all numbers of a text follow one rule.
    """
    known = [saved] if not isinstance(saved, Mapping) else [saved["value"], saved["low"], saved["high"]]
    values = [value for value in known if value is not None]
    if text.startswith("<"):
        return len(values) == 1 and bool(values[0] < float(text[1:]))
    shown = re.findall(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)", text)
    return len(shown) == len(values) > 0 and any(
        all(_same_number(one, scale * value) for one, value in zip(shown, values, strict=True)) for scale in (1, 100)
    )


def _same_number(shown: str, value: float) -> bool:
    plain = shown.replace(",", "")
    digits = len(plain.partition(".")[2])
    return abs(float(plain) - value) <= 0.5 / 10.0**digits + 1e-9
