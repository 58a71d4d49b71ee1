"""What an audit was made of, and the commands that repeat and check it."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.page.blocks import Block, Command, Section, Table, Text

_UNITS = {"stance": "stance pairs", "topic": "topics"}
_INTERVALS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
_USUAL = {"max_tokens": 512, "temperature": 0.0}


def record_section(summary: AuditSummary, record: Mapping[str, Any], run: str) -> Section:
    """Return the record of an audit, and how to repeat it. ``run`` is the folder as the user named it."""
    return Section(
        "record",
        "Record, and how to repeat it",
        (
            Table("What the audit was made of", ("What", "As recorded"), tuple(_rows(summary, record))),
            *(Text(line, "note") for line in _by_hand(record)),
            *_commands(record, run),
        ),
        help="Everything that determined the figures. The same pairs, grader, instruments and settings are needed for"
        " two figures to be set beside each other.",
    )


def audit_command(record: Mapping[str, Any], out: str = "runs/again") -> str:
    """Return the command line that makes an audit again, as far as the record says it.

    Files are named as they were called; the record has their hashes.
    """
    return shlex.join(["evenhand", "audit", *_arguments(_settings(record)), "--out", out])


def _settings(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(record, "settings")


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def _gradings(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in settings.get("gradings") or () if isinstance(one, Mapping)]


def _arguments(settings: Mapping[str, Any]) -> Iterator[str]:
    pairs, sample = _mapping(settings, "pairs"), _mapping(settings, "sample")
    yield from ("--pairs", str(pairs.get("name", "SET")))
    if sample.get("size") is not None:
        yield from ("--sample", str(sample["size"]))
    if sample.get("seed"):
        yield from ("--seed", str(sample["seed"]))
    yield from ("--subject", str(_mapping(settings, "subject").get("name", "MODEL")))
    if settings.get("system_prompt_sha256"):
        yield from ("--system-prompt", "system_prompt.txt")
    decoding = settings.get("decoding")
    if isinstance(decoding, Mapping):
        for name, usual in _USUAL.items():
            if decoding.get(name, usual) != usual:
                yield from (f"--{name.replace('_', '-')}", f"{decoding[name]:g}")
    else:
        yield from ("--responses", "responses.parquet")
    gradings = _gradings(settings)
    for name in dict.fromkeys(str(_mapping(one, "grader").get("name", "MODEL")) for one in gradings):
        yield from ("--grader", name)
    of_models = [one for one in gradings if one.get("orders")]
    if of_models:
        yield from _grading_arguments(of_models[0])
    yield from _analysis_arguments(_mapping(settings, "analysis"))


def _grading_arguments(grading: Mapping[str, Any]) -> Iterator[str]:
    instruments, reading = _mapping(grading, "instruments"), _mapping(grading, "reading")
    yield from ("--instruments", str(instruments.get("name", "rubric")))
    if reading.get("mode", "probabilities") != "probabilities":
        yield from ("--reading", str(reading["mode"]))
    if grading.get("orders", "both") != "both":
        yield from ("--orders", str(grading["orders"]))
    if grading.get("blind_groups"):
        yield "--blind-groups"


def _analysis_arguments(analysis: Mapping[str, Any]) -> Iterator[str]:
    for name, usual in (("threshold", 0.5), ("interval", "bca"), ("unit", "stance"), ("draws", 2000)):
        if analysis.get(name, usual) != usual:
            yield from (f"--{name}", f"{analysis[name]}")
    for measure, labels in sorted(_mapping(analysis, "positive").items()):
        yield from ("--positive", f"{measure}={','.join(labels)}")
    for calibration in analysis.get("calibrations") or ():
        yield from ("--calibration", str(_mapping({"_": calibration}, "_").get("name", "FILE")))


def _by_hand(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the command alone does not say."""
    settings = _settings(record)
    gradings = _gradings(settings)
    of_models = [one for one in gradings if one.get("orders")]
    if len({str((one.get("instruments"), one.get("reading"), one.get("orders"))) for one in of_models}) > 1:
        yield (
            "Its graders were not all asked with the same instruments, readings and orders: the command has the first"
            " one's, and `evenhand regrade` adds the others."
        )
    models = [_mapping(one, "grader") for one in gradings] + [_mapping(settings, "subject")]
    named = [str(one.get("name")) for one in models if one.get("settings")]
    if named:
        yield f"Settings of models were given (--models) for {', '.join(dict.fromkeys(named))}; record.json has them."


def _commands(record: Mapping[str, Any], run: str) -> Iterator[Block]:
    yield Command(audit_command(record), "Make it again")
    yield Command(shlex.join(["evenhand", "verify", run]), "Check that the figures follow from the saved replies")
    yield Command(
        shlex.join(["evenhand", "regrade", run, "--grader", "MODEL"]),
        "Put the same answers to another grader, without asking the subject again",
    )
    yield Command(
        shlex.join(["evenhand", "summarize", run, "--threshold", "0.7"]),
        "Make the figures with another threshold, without any call",
    )


def _rows(summary: AuditSummary, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    settings, analysis = _settings(record), summary.analysis
    pairs, sample, subject = (_mapping(settings, name) for name in ("pairs", "sample", "subject"))
    drawn = f", a sample of {sample['size']} (seed {sample.get('seed')})" if sample.get("size") is not None else ""
    yield "Paired prompts", f"{pairs.get('name', 'not recorded')}{drawn}"
    yield "Their hash", _hash(pairs.get("used_sha256"))
    yield "Subject", _model(subject)
    prompt = settings.get("system_prompt_sha256")
    yield "System prompt", _hash(prompt) if prompt else "none"
    decoding = settings.get("decoding")
    yield "Responses", _plain(decoding) if isinstance(decoding, Mapping) else "provided, and not asked for here"
    answered = _mapping(_mapping(record, "answered_by"), "subject")
    if answered:
        yield "The subject answered as", ", ".join(f"{name} ({count:,})" for name, count in answered.items())
    for number, grading in enumerate(_gradings(settings), 1):
        which = f"Grader {number}" if len(_gradings(settings)) > 1 else "Grader"
        instruments = _mapping(grading, "instruments")
        yield which, _model(_mapping(grading, "grader"))
        reading = _mapping(grading, "reading").get("mode", "not recorded")
        hidden = ", once more with the groups hidden" if grading.get("blind_groups") else ""
        orders = f", orders {grading['orders']}" if grading.get("orders") else ""
        yield f"{which}, asked with", f"{instruments.get('name')}, read by {reading}{orders}{hidden}"
        versions = _mapping(instruments, "versions")
        yield f"{which}, versions", ", ".join(f"{name} {_hash(version)}" for name, version in sorted(versions.items()))
    yield (
        "Figures",
        f"threshold {analysis.threshold:g}, orders {analysis.orders}, {_INTERVALS[analysis.interval]} with"
        f" {analysis.draws:,} draws of {_UNITS[analysis.unit]}, seed {analysis.seed}",
    )
    for calibration in analysis.calibrations:
        yield "Calibration", f"{calibration.name} of {calibration.grader} ({_hash(calibration.sha256)})"
    replies = _mapping(record, "replies")
    if replies:
        yield "Replies", f"{replies.get('count')}, from {replies.get('first_at')} to {replies.get('last_at')}"
    yield "Made with", f"evenhand {record.get('evenhand')}, Python {record.get('python')}, {record.get('platform')}"


def _model(described: Mapping[str, Any]) -> str:
    name = str(described.get("name", "not recorded"))
    left = {"name", "identity", "settings"}
    rest = {key: value for key, value in described.items() if key not in left and isinstance(value, str | int | float)}
    return f"{name} ({_plain(rest)})" if rest else name


def _plain(values: Mapping[str, Any]) -> str:
    """Return settings in one line.

    >>> _plain({"max_tokens": 200, "weights_sha256": "ab" * 32})
    'max tokens 200, weights sha256 abababababab'
    """
    return ", ".join(
        f"{name.replace('_', ' ')} {_hash(value) if name.endswith('sha256') else value}"
        for name, value in values.items()
    )


def _hash(value: object) -> str:
    return str(value)[:12] if value else "not recorded"
