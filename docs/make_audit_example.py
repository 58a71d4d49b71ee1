"""Write the tables of docs/how-to-read-an-audit.md: `PYTHONPATH=tests python docs/make_audit_example.py`.

The audit is made up, so that its truth is known: a subject that leans to the right, and graders with a taste for the
response that stands first.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from rich.console import Console

from audit_judgments import even, share
from evenhand.graders import Judgment
from evenhand.instruments import builtin_instruments
from evenhand.pairs import PairedPrompt, StanceKind
from evenhand.readings import Reading, Reply, State
from evenhand.report import Analysis, AuditSummary, audit_table
from evenhand.report.quoted_card import QuotedCard
from evenhand.statistics import Estimate
from evenhand.studies.audit.arrays import BLIND, EVEN_HANDEDNESS, BlockArrays
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize
from evenhand.studies.audit.summarize_all import summarize_all
from simulated_audits import LETTERS, ORDERS, Floats, World, around

PAGE = Path(__file__).with_name("how-to-read-an-audit.md")
WORLD = World(
    stances=60,
    templates=4,
    topics=20,
    treatment=(0.03, 0.10, 0.87),
    first_place=0.08,
    left_is_a=0.5,
    declined=(0.03, 0.08, 0.09),
)
SUBJECT, GRADERS = "made-up-subject", ("made-up-grader-1", "made-up-grader-2")
_TEMPLATES = ("Write a poem", "Write a speech", "Explain why", "Weigh for and against")
_SETTLED, _UNREADABLE = 6, 3
_CARDS = (
    QuotedCard(
        measure="refusal",
        line="refusal: agrees with people on 91% [88, 94] of 400 labelled answers (made-up set), kappa .78, AUC .951",
        grader=GRADERS[0],
        gold="made-up-set",
        labelled_by="people",
        held_out="",
        n=400,
        threshold=0.5,
        observed=Estimate(0.91, 0.88, 0.94, 400, 400, "made up"),
        kappa=Estimate(0.78, 0.71, 0.84, 400, 400, "made up"),
        auc=Estimate(0.951, 0.93, 0.97, 400, 400, "made up"),
        verdict="tells",
        source="validation.json",
    ),
)
_TABLE = re.compile(
    r"(<!-- (?P<which>audit|declining): (?P<first>[^|>]+?)(?: (?P<how>[|>]) (?P<end>[^|>]+?))? -->\n```text\n)"
    r"(?:.*?)(?P<close>```\n)",
    re.DOTALL,
)


def example() -> AuditSummary:
    """Return the summary of the made-up audit."""
    pairs = _pairs()
    rng = np.random.default_rng(5)
    (read,), (hedged,) = WORLD.audits(1, seed=4), WORLD.audits(1, seed=9)
    judgments = [*_judgments(GRADERS[0], pairs, read, hedged, alike=1e6, rng=rng), *_blind(pairs, read, rng)]
    judgments[:_UNREADABLE] = [
        replace(one, reading=Reading.without(State.UNPARSEABLE, "no verdict")) for one in judgments[:_UNREADABLE]
    ]
    judgments += _judgments(GRADERS[1], pairs, read, hedged, alike=6, rng=rng)
    instruments = builtin_instruments("rubric")
    return summarize_all(
        pairs,
        list(_responses(pairs, read, rng)),
        [replace(one, instruments=instruments.name) for one in judgments],
        [instruments],
        subject={"name": SUBJECT},
        configuration=SUBJECT,
        analysis=Analysis(),
        gradings=[
            {
                "grader": {"name": GRADERS[0]},
                "instruments": {"set": instruments.name},
                "validity": [asdict(card) for card in _CARDS],
            }
        ],
    )


def declining() -> AuditSummary:
    """Return the summary of an audit of a subject that declines everything."""
    world = replace(WORLD, templates=1)
    rng = np.random.default_rng(6)
    pairs, judgments = world.pairs(), list[Judgment]()
    for pair in pairs:
        judgments += [even(pair, order, around(np.array([0.02, 0.02, 0.96]), 30, rng).tolist()) for order in ORDERS]
        judgments += [share(pair, "refusal", letter, float(rng.beta(40, 2))) for letter in LETTERS]
    judgments = [replace(one, grader=GRADERS[0]) for one in judgments]
    return summarize(pairs, [], judgments, builtin_instruments("rubric"), subject=SUBJECT, analysis=Analysis())


def tables(summary: AuditSummary) -> list[str]:
    """Return what a terminal of 80 columns shows of a summary, by lines."""
    console = Console(width=80, highlight=False, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(audit_table(summary))
    return [line.rstrip() for line in captured.get().splitlines()]


def page(text: str) -> str:
    """Return the page with its tables as they should be.

    Before a table stands how its first line begins, and behind ``|`` how its last does, or behind ``>`` the line that
    comes after it; with neither it ends before an empty line.
    """
    lines = {"audit": tables(example()), "declining": tables(declining())}

    def shown(found: re.Match[str]) -> str:
        whole, end = lines[found["which"]], found["end"]
        start = _place(whole, found["first"], 0)
        stop = _place(whole, end, start) + (found["how"] == "|") if end else whole.index("", start)
        return found[1] + "".join(f"{line}\n" for line in whole[start:stop]) + found["close"]

    return _TABLE.sub(shown, text)


def _place(lines: list[str], beginning: str, after: int) -> int:
    return next(place for place in range(after, len(lines)) if lines[place].strip().startswith(beginning))


def _pairs() -> list[PairedPrompt]:
    found = []
    for place, pair in enumerate(WORLD.pairs()):
        stance, template = divmod(place, WORLD.templates)
        kind = StanceKind.SETTLED_EVIDENCE if stance % (WORLD.stances // _SETTLED) == 0 else StanceKind.VALUE
        same_request = template == WORLD.templates - 1
        found.append(replace(pair, template=_TEMPLATES[template], kind=kind, same_request=same_request))
    return found


def _judgments(
    grader: str,
    pairs: list[PairedPrompt],
    read: BlockArrays,
    hedged: BlockArrays,
    *,
    alike: float,
    rng: np.random.Generator,
) -> Iterator[Judgment]:
    """Yield what a grader says who reads nearly the same, the more nearly the larger ``alike``."""

    def nearly(distribution: Floats) -> Floats:
        return around(np.clip(distribution, 1e-6, 1), alike, rng)

    for place, pair in enumerate(pairs):
        for order in ORDERS:
            by_label = read.shown[EVEN_HANDEDNESS, order]
            found = nearly(np.array([by_label[label][place] for label in "ABC"]))
            yield replace(even(pair, order, found.tolist()), grader=grader)
        for measure, arrays in (("refusal", read), ("hedging", hedged)):
            for letter in LETTERS:
                p = arrays.letters["refusal", letter][place]
                found = nearly(np.array([p, 1 - p]))
                yield replace(share(pair, measure, letter, float(found[0])), grader=grader)


def _blind(pairs: list[PairedPrompt], read: BlockArrays, rng: np.random.Generator) -> Iterator[Judgment]:
    """Yield what the first grader says where the groups' names are hidden: a little more often the same."""
    for place, pair in enumerate(pairs):
        for order in ORDERS:
            by_label = read.shown[EVEN_HANDEDNESS, order]
            shown = np.array([by_label[label][place] for label in "ABC"])
            hidden = around(np.clip(0.95 * shown + 0.05 * np.array([0, 0, 1]), 1e-6, 1), 40, rng)
            yield replace(even(pair, order, hidden.tolist(), measure=BLIND), grader=GRADERS[0])


def _responses(pairs: list[PairedPrompt], read: BlockArrays, rng: np.random.Generator) -> Iterator[Response]:
    """Yield responses whose length has a little to do with how they were judged."""
    better_b = read.pair_probability(EVEN_HANDEDNESS, "B") - read.pair_probability(EVEN_HANDEDNESS, "A")
    for pair, lean in zip(pairs, better_b.tolist(), strict=True):
        for letter, sign in zip(LETTERS, (-1, 1), strict=True):
            length = int(900 * np.exp(0.2 * sign * lean + 0.3 * rng.normal()))
            yield Response(pair, letter, "", Reply("x" * length, "stop", SUBJECT), "")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
