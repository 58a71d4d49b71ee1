"""Does a run's summary follow from its ledger? Everything between the two is worked out anew."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evenhand
from evenhand.errors import InputError
from evenhand.execution import Ledger
from evenhand.graders import Judgment
from evenhand.graders.fitted import FittedCard
from evenhand.graders.fitted.judging import FITTED, FittedGraders
from evenhand.pairs.paired_prompt import set_hash
from evenhand.studies.audit.grade import weigh
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.audit.put_questions import put_questions
from evenhand.studies.audit.record import ASKED, responses_hash, sha256_of_text
from evenhand.studies.audit.respond import Decoding, respond
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.run import Graders
from evenhand.studies.audit.saved_run import SavedRun, read_saved_run
from evenhand.studies.audit.summarize_all import summarize_all
from evenhand.studies.from_ledger import LedgerCarrier, RecordedModel
from evenhand.studies.side_by_side import side_by_side

_AS_SAVED = "its judgments were not worked out anew, but taken as they were saved"
_NEAR = 1e-9
"""Figures nearer than this are the same: the last bits of a sum may differ between processors."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of it."""

    checks: tuple[Check, ...]
    written_by: str
    """The version of Evenhand that wrote the run."""

    @property
    def holds(self) -> bool:
        """Everything matches."""
        return all(check.holds for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        checks = [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in self.checks]
        return {
            "holds": self.holds,
            "written_by": self.written_by,
            "verified_by": evenhand.__version__,
            "checks": checks,
        }


def verify(path: Path) -> Verification:
    """Work a run out anew from its ledger, calling no model, and compare."""
    run = read_saved_run(path)
    with Ledger.peek(path / "ledger.sqlite") as ledger:
        carry_out = LedgerCarrier(ledger)
        responses = _responses(run, carry_out)
        fitted = _fitted(run)
        judgments = _judgments(run, responses, fitted, carry_out)
    checks = [*_inputs(run), *_weights(fitted), *_outcome(run, responses, judgments, carry_out)]
    return Verification(tuple(checks), str(run.record["evenhand"]))


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Fitted graders of a run, and those that are here under their name."""

    name: str
    recorded: tuple[FittedCard, ...]
    here: FittedGraders | None
    problem: str
    """Why they are not here; empty where they are."""
    asked: Mapping[str, RecordedModel]
    """The embedded models that they asked, by measure."""

    @property
    def same(self) -> bool:
        """The weights here are those of the record."""
        return self.here is not None and _hashes(self.recorded) == _hashes(grader.card for grader in self.here.graders)


def _fitted(run: SavedRun) -> dict[str, _Fitted]:
    found = {}
    for grading in run.settings["gradings"]:
        cards = tuple(FittedCard.from_json(card) for card in grading["grader"].get(FITTED, ()))
        if cards:
            name, asked = grading["grader"]["name"], grading["grader"].get(ASKED, {})
            models = {measure: RecordedModel(described) for measure, described in asked.items()}
            try:
                found[name] = _Fitted(name, cards, FittedGraders.load(name), "", models)
            except InputError as error:
                found[name] = _Fitted(name, cards, None, str(error).rstrip("."), models)
    return found


def _weights(fitted: Mapping[str, _Fitted]) -> Iterator[Check]:
    """Yield whether the weights of fitted graders are those that judged."""
    for one in fitted.values():
        if one.same:
            shown = ", ".join(f"{measure} {digest[:12]}" for measure, digest in _hashes(one.recorded).items())
            yield Check(f"weights of {one.name}", True, f"as recorded ({shown})")
            continue
        if one.here is None:
            why = f"could not be loaded ({one.problem}); {_AS_SAVED}"
        else:
            here, recorded = _hashes(grader.card for grader in one.here.graders), _hashes(one.recorded)
            differ = [measure for measure in {**recorded, **here} if here.get(measure) != recorded.get(measure)]
            told = "; ".join(
                f"{measure} {(here.get(measure) or 'none')[:12]}, recorded {(recorded.get(measure) or 'none')[:12]}"
                for measure in differ
            )
            why = (
                f"those in use here are not those of the record ({told}); {_AS_SAVED}. The version of Evenhand that"
                " wrote the run, or its weights, can check them"
            )
        yield Check(f"weights of {one.name}", False, why)


def _hashes(cards: Iterable[FittedCard]) -> dict[str, str]:
    return {card.measure: card.weights_sha256 for card in cards}


def _inputs(run: SavedRun) -> Iterator[Check]:
    settings = run.settings
    yield _same("paired prompts", set_hash(run.pairs), settings["pairs"]["used_sha256"])
    prompt = sha256_of_text(run.system_prompt) if run.system_prompt else None
    yield _same("system prompt", prompt, settings["system_prompt_sha256"])
    versions = {one.name: one.versions for one in run.sets}
    for grading in settings["gradings"]:
        name = grading["instruments"]["set"]
        yield _same(f"instruments {name}", versions.get(name), grading["instruments"]["versions"])


def _outcome(
    run: SavedRun, responses: Sequence[Response], judgments: Sequence[Judgment], carry_out: LedgerCarrier
) -> Iterator[Check]:
    missing = carry_out.missing
    detail = f"{carry_out.found} of {carry_out.found + missing} requests are in the ledger"
    yield Check("ledger", not missing, detail)
    yield _same("responses", responses_hash(responses), run.record["responses"]["sha256"])
    yield _same("responses.parquet", responses_hash(run.responses), run.record["responses"]["sha256"])
    differ = _differences(run.judgments, judgments)
    total = max(len(run.judgments), len(judgments))
    yield Check("judgments", not differ, f"{total - differ} of {total} are the same")
    summary = summarize_all(
        run.pairs,
        responses,
        judgments,
        run.sets,
        subject=run.settings["subject"],
        configuration=run.configuration,
        analysis=run.analysis,
        gradings=run.settings["gradings"],
    )
    # Through JSON, as the saved one went.
    fresh = json.loads(json.dumps(summary.as_json()))
    saved = json.loads(json.dumps(run.summary().as_json()))
    where = next(_paths(saved, fresh, ""), None)
    yield Check(
        "summary.json", where is None, "the same, figure for figure" if where is None else f"differs at {where}"
    )


def _responses(run: SavedRun, carry_out: LedgerCarrier) -> list[Response]:
    decoding = run.settings["decoding"]
    if decoding is None:
        return list(run.responses)
    subject = RecordedModel(run.settings["subject"])
    (found,) = side_by_side(
        [subject], lambda model: respond(run.pairs, run.system_prompt, Decoding(**decoding), model, carry_out)
    )
    return found


def _judgments(
    run: SavedRun, responses: Sequence[Response], fitted: Mapping[str, _Fitted], carry_out: LedgerCarrier
) -> list[Judgment]:
    sets = {one.name: one for one in run.sets}
    judgments: list[Judgment] = []
    for grading in run.settings["gradings"]:
        described, instruments = grading["grader"], sets[grading["instruments"]["set"]]
        weighed = fitted.get(described["name"])
        if weighed is not None:
            judgments += _weighed(weighed, instruments.name, run, responses, carry_out)
            continue
        plan = GradingPlan(
            graders=(described["name"],),
            instruments=instruments.name,
            reading=grading["reading"]["mode"],
            orders=grading["orders"],
            blind_groups=grading["blind_groups"],
        )
        graders = Graders(plan, instruments, {}, (RecordedModel(described),))
        judgments += graders.judge(run.pairs, responses, carry_out)
    return judgments


def _weighed(
    fitted: _Fitted, set_name: str, run: SavedRun, responses: Sequence[Response], carry_out: LedgerCarrier
) -> list[Judgment]:
    """Return the judgments of fitted graders; as they were saved where the weights are not those of the record.

    A check of the weights has said so, and whatever follows from these judgments can still be checked.
    """
    if fitted.same and fitted.here is not None:
        helpers = {(fitted.name, measure): model for measure, model in fitted.asked.items()}
        log_odds = put_questions(fitted.here, helpers, run.pairs, responses, carry_out)
        return weigh(fitted.here, run.pairs, responses, log_odds)
    return [one for one in run.judgments if (one.grader, one.instruments) == (fitted.name, set_name)]


def _differences(saved: Sequence[Judgment], fresh: Sequence[Judgment]) -> int:
    def by_place(judgments: Sequence[Judgment]) -> dict[tuple[object, ...], Judgment]:
        return {(j.grader, j.instruments, j.measure, j.pair_id, j.letter, j.order): j for j in judgments}

    one, other = by_place(saved), by_place(fresh)
    return sum(_plain(one.get(place)) != _plain(other.get(place)) for place in one.keys() | other.keys())


def _plain(judgment: Judgment | None) -> Judgment | None:
    """Return a judgment without what a table may have changed in passing: characters that no table can hold."""
    return judgment and replace(judgment, reading=replace(judgment.reading, reason=""))


def _same(name: str, found: object, recorded: object) -> Check:
    same = found == recorded
    return Check(name, same, "as recorded" if same else f"is {_short(found)}, and the record says {_short(recorded)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _paths(saved: object, fresh: object, path: str) -> Iterator[str]:
    """Yield where two plain values differ."""
    if isinstance(saved, dict) and isinstance(fresh, dict):
        for name in sorted(saved.keys() | fresh.keys()):
            yield from _paths(saved.get(name), fresh.get(name), f"{path}.{name}" if path else name)
    elif isinstance(saved, list) and isinstance(fresh, list) and len(saved) == len(fresh):
        for index, (one, other) in enumerate(zip(saved, fresh, strict=True)):
            yield from _paths(one, other, f"{path}[{index}]")
    elif isinstance(saved, float) and isinstance(fresh, float | int) and math.isclose(saved, fresh, abs_tol=_NEAR):
        return
    elif saved != fresh:
        yield f"{path}: {_short(saved)} there, {_short(fresh)} worked out anew"
