"""What the figures of a whole set take: 1,350 pairs, both orders, three instruments: `python -m bench.summarize`."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evenhand.execution import RunFolder
from evenhand.graders import Judgment
from evenhand.instruments import builtin_instruments
from evenhand.instruments.instrument import Order
from evenhand.pairs import PairedPrompt, Side, StanceKind
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Reading, Reply, State
from evenhand.report import Analysis, AuditSummary
from evenhand.studies.audit.record import RECORD_SCHEMA
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.saved_run import read_saved_run, write_run
from evenhand.studies.audit.summarize import summarize

_STANCES, _TEMPLATES, _TOPICS = 150, 9, 60
_MOST_SECONDS, _MOST_MB = 10, 500
_GRADER = "grader"
_LETTERS: tuple[Letter, ...] = ("a", "b")
_ORDERS: tuple[Order, ...] = ("ab", "ba")
_SENTENCE = "One reason that people give for it is the cost, and another is what it does to a neighbourhood. "

_CHILD = """
import json, resource, sys, time
from pathlib import Path
from bench.summarize import made, summary_of, saved
how, folder = sys.argv[1], Path(sys.argv[2])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
material = made() if how == "made" else None
before, start, used = peak(), time.perf_counter(), time.process_time()
material = material or saved(folder)
read = time.perf_counter() - start
summary = summary_of(*material)
print(json.dumps([time.perf_counter() - start, read, time.process_time() - used, before, peak()]))
"""


def run() -> Iterator[str]:
    """Measure in processes of their own, first what is in memory, then what lies in a run folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        material = made()
        save(folder, *material)
        judgments = len(material[2])
        for how, what in (("made", "summarize"), ("saved", "a run folder read and summarized")):
            command = [sys.executable, "-c", _CHILD, how, str(folder)]
            found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            took, read, used, before, peak = json.loads(found.stdout)
            met = "met" if took <= _MOST_SECONDS and peak <= _MOST_MB else "NOT MET"
            reading = f", {read:.1f} s of it to read the folder" if how == "saved" else ""
            yield (
                f"{what}, 1,350 pairs and {judgments:,} judgments, {Analysis().draws:,} draws: {took:.1f} s{reading}"
                f" ({used:.1f} s of processor time), peak memory {peak:.0f} MB, {before:.0f} of it before (wanted: at"
                f" most {_MOST_SECONDS} s and {_MOST_MB} MB, {met})"
            )


Material = tuple[list[PairedPrompt], list[Response], list[Judgment]]


def made() -> Material:
    """Return the pairs, responses and judgments of a made audit; stance pairs differ, so that figures are clustered."""
    rng = np.random.default_rng(0)
    instruments = builtin_instruments("rubric")
    pairs: list[PairedPrompt] = []
    responses: list[Response] = []
    judgments: list[Judgment] = []

    def judged(pair: PairedPrompt, measure: str, letter: Letter | None, order: Order | None, mean: object) -> Judgment:
        scale = next(one.scale for one in instruments.instruments if one.name == measure)
        reading = Reading(State.OK, tuple(rng.dirichlet(np.asarray(mean) + 0.01).tolist()), 0.98)
        return Judgment(
            _GRADER, measure, "version", pair.pair_id, letter, order, scale, reading, "0" * 64, instruments.name
        )

    for stance in range(_STANCES):
        verdict, level = 6 * rng.dirichlet([0.1, 0.3, 2.6]), 6 * rng.dirichlet([2, 0.5, 0.3, 0.1, 0.1])
        for template in range(_TEMPLATES):
            pair = _pair(stance, template)
            pairs.append(pair)
            for letter in _LETTERS:
                text = _SENTENCE * int(rng.integers(5, 40))
                responses.append(Response(pair, letter, "0" * 64, Reply(text, "stop", "subject"), "2025-11-30"))
            judgments += [judged(pair, "even_handedness", None, order, verdict) for order in _ORDERS]
            judgments += [
                judged(pair, measure, letter, None, level) for measure in ("refusal", "hedging") for letter in _LETTERS
            ]
    return pairs, responses, judgments


def save(folder: Path, pairs: list[PairedPrompt], responses: list[Response], judgments: list[Judgment]) -> None:
    """Write a run folder that can be read back."""
    write_run(
        RunFolder(folder),
        record={"schema": RECORD_SCHEMA, "settings": {"analysis": asdict(Analysis())}},
        summary=AuditSummary("subject", "subject", 0, 0, 0, 0, {}, Analysis(), (), (), ()),
        pairs=pairs,
        sets=[builtin_instruments("rubric")],
        system_prompt="",
        responses=responses,
        judgments=judgments,
    )


def saved(folder: Path) -> Material:
    """Return what lies in a run folder."""
    found = read_saved_run(folder)
    return list(found.pairs), list(found.responses), list(found.judgments)


def summary_of(pairs: list[PairedPrompt], responses: list[Response], judgments: list[Judgment]) -> AuditSummary:
    """Work the figures out, with the settings that an audit has by itself."""
    return summarize(pairs, responses, judgments, builtin_instruments("rubric"), subject="subject", analysis=Analysis())


def _pair(stance: int, template: int) -> PairedPrompt:
    return PairedPrompt(
        pair_id=f"{stance}.{template}",
        stance_id=str(stance),
        topic=f"topic {stance % _TOPICS}",
        category="",
        template=f"template {template}",
        template_kind="reasoning",
        same_request=template == 0,
        stance_a=f"for {stance}",
        stance_b=f"against {stance}",
        prompt_a=f"Write {template} for {stance}.",
        prompt_b=f"Write {template} against {stance}.",
        group_a="supporters",
        group_b="opponents",
        side_a=Side.LEFT,
        side_b=Side.RIGHT,
        kind=StanceKind.SETTLED_EVIDENCE if stance % 10 == 0 else StanceKind.VALUE,
    )


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
