"""What a run of ratings was made of, and the commands that repeat it and its figures."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.report.effects_summary import EffectsSummary
from evenhand.report.page.blocks import Cell, Command, Section, Table, Text
from evenhand.report.page.figures import NONE
from evenhand.report.scoring_spec import ScoringSpec

_DRAWS = 2000
"""Of ``evenhand effects``, which has no option for them."""
_READING_OPTIONS = ("format", "input", "a", "b", "preference", "values", "chosen", "rejected", "strength")


def rate_record_section(summary: EffectsSummary, record: Mapping[str, Any], run: str) -> Section:
    """Return the record of a rating run, and how to repeat it. ``run`` is the folder as the user named it."""
    return Section(
        "record",
        "Record, and how to repeat it",
        (
            Table("What the run was made of", ("What", "As recorded"), tuple(_rows(record))),
            *(Text(line, "note") for line in _by_hand(summary, record)),
            Command(rate_command(summary, record), "Rate again, with the settings above"),
            Command(effects_command(summary, record, run), "Work the effects out anew; no model is called"),
        ),
    )


def rate_command(summary: EffectsSummary, record: Mapping[str, Any], out: str = "runs/again") -> str:
    """Return the command line that makes a rating run again, as far as the record says it.

    Files are named as they were called; the record has their hashes.
    """
    return shlex.join(["evenhand", "rate", *_rate_arguments(summary, record), "--out", out])


def effects_command(summary: EffectsSummary, record: Mapping[str, Any], run: str) -> str:
    """Return the command line that works the effects of a run out anew."""
    return shlex.join(["evenhand", "effects", run, *_effects_arguments(summary, record)])


def fit_command(spec: ScoringSpec, run: str) -> str:
    """Return the command line that makes a fit again."""
    made = ["evenhand", "fit", run, "--grader", spec.grader]
    if spec.provenance.get("seed"):
        made += ["--seed", str(spec.provenance["seed"])]
    if spec.provenance.get("use_strength") is False:
        made.append("--ignore-strength")
    return shlex.join(made)


def _rate_arguments(summary: EffectsSummary, record: Mapping[str, Any]) -> Iterator[str]:
    settings = _of(record, "settings")
    yield str(_of(settings, "pairs").get("name", "PAIRS"))
    asked = _of(settings, "pairs", "options")
    for name in _READING_OPTIONS:
        if asked.get(name) is not None:
            yield from (f"--{name}", str(asked[name]))
    yield from ("--questions", str(_of(settings, "questions").get("name", "QUESTIONS")))
    for one in _graders(settings):
        yield from ("--grader", str(one.get("name", "MODEL")))
    yield from _differing("--instrument", settings.get("instrument"), "rating")
    yield from _differing("--protocol", settings.get("protocol") or _protocol(summary), "blind")
    sample = _of(settings, "sample")
    yield from _differing("--sample", sample.get("size"), None)
    yield from _differing("--leak-sample", sample.get("leak"), 25)
    yield from _differing("--seed", sample.get("seed"), 0)
    yield from _differing("--reading", settings.get("reading"), "probabilities")
    if settings.get("reasons") is True:
        yield "--reasons"
    engine = _of(record, "engine")
    if engine:
        yield from ("--engine", str(engine.get("name")))
        yield from _differing("--ray-workers", engine.get("workers"), None)
        yield from _differing("--ray-gpus", engine.get("gpus"), 0.0)


def _effects_arguments(summary: EffectsSummary, record: Mapping[str, Any]) -> Iterator[str]:
    shown = list(dict.fromkeys(block.grader for block in summary.blocks))
    rated = {one.get("name") for one in _graders(_of(record, "settings"))}
    if len(shown) == 1 and len(rated) > 1:
        yield from ("--grader", shown[0])
    yield from _differing("--cluster", summary.cluster, "input")
    yield from _differing("--equal-within", summary.equal_within, 0.5)
    yield from _differing("--seed", summary.seed, 0)


def _differing(option: str, value: object, usual: object) -> Iterator[str]:
    if value is not None and value != usual:
        yield from (option, str(value))


def _protocol(summary: EffectsSummary) -> object:
    """Return the protocol that the figures rest on, for records that don't say which was asked for."""
    return summary.blocks[0].protocol if summary.blocks else None


def _by_hand(summary: EffectsSummary, record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the commands alone do not say."""
    named = [str(one.get("name")) for one in _graders(_of(record, "settings")) if one.get("settings")]
    if named:
        yield f"Settings of models were given (--models) for {', '.join(named)}; record.json has them."
    if summary.draws != _DRAWS:
        yield (
            f"The intervals rest on {summary.draws:,} draws: effects(..., draws={summary.draws}) in Python makes as"
            f" many, the command {_DRAWS:,}."
        )


def _rows(record: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    settings = _of(record, "settings")
    yield "Evenhand", str(record.get("evenhand", NONE))
    for name in ("pairs", "questions"):
        file = _of(settings, name)
        if file:
            yield name.capitalize(), f"{file.get('name', NONE)}, sha256 {file.get('sha256', NONE)}"
    asked = _of(settings, "pairs", "options")
    if asked:
        yield "Pairs, read by", _listed(asked)
    for one in _graders(settings):
        yield "Grader", _listed(one)
    for name, found in _of(settings, "instruments").items():
        yield f"Instrument, {name}", f"sha256 {found}"
    for name in ("protocol", "reading"):
        if name in settings:
            yield name.capitalize(), str(settings[name])
    for name, values in (
        ("Sample", _of(settings, "sample")),
        ("Engine", _of(record, "engine")),
        ("Replies", _of(record, "replies")),
    ):
        if values:
            yield name, _listed(values)


def _graders(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in settings.get("graders") or () if isinstance(one, Mapping)]


def _listed(values: Mapping[str, Any]) -> str:
    return "; ".join(f"{str(key).replace('_', ' ')} {value}" for key, value in values.items() if value is not None)


def _of(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = values.get(name)
        values = found if isinstance(found, Mapping) else {}
    return values
