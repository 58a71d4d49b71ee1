"""In what the runs of a comparison differ, as their records tell."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.report.compare_summary import SettingDifference
from evenhand.studies.audit.grader_agreement import Block, block_names
from evenhand.studies.audit.saved_run import SavedRun

COMPARED, BACKGROUND, CONFOUNDER = "compared", "background", "confounder"
OF_SUMMARY = " of its own summary"
_LONGEST = 40
_NONE = "none"


def setting_differences(runs: Sequence[SavedRun], blocks: Sequence[Block]) -> list[SettingDifference]:
    """Return what is not the same in all runs, as far as it bears on the blocks that are compared."""
    found = [*_of_subjects(runs), *_of_runs(runs)]
    for block, name in block_names(blocks).items():
        found += _of_block(runs, block, name)
    return found


def _of_subjects(runs: Sequence[SavedRun]) -> Iterator[SettingDifference]:
    yield from _differing("subject", [run.subject for run in runs], COMPARED)
    yield from _differing("system prompt", [_system_prompt(run) for run in runs], COMPARED)
    for field in ("max_tokens", "temperature", "seed"):
        yield from _differing(field.replace("_", " "), [_decoding(run, field) for run in runs], CONFOUNDER)
    for name, values in (
        ("what the subject's name stands for", [_short(run.settings["subject"].get("identity")) for run in runs]),
        ("the subject as its provider names it", [_listed(run.record["answered_by"]["subject"]) for run in runs]),
    ):
        # Two subjects differ in this as a matter of course; one subject under one name should not.
        if len(set(zip((run.subject for run in runs), values, strict=True))) > len({run.subject for run in runs}):
            yield from _differing(name, values, CONFOUNDER)


def _of_runs(runs: Sequence[SavedRun]) -> Iterator[SettingDifference]:
    yield from _differing("dates of the replies", [_dates(run) for run in runs], BACKGROUND)
    yield from _differing("version of Evenhand", [str(run.record["evenhand"]) for run in runs], CONFOUNDER)
    for name, values in (
        ("threshold", [f"{run.analysis.threshold:g}" for run in runs]),
        ("labels that count", [_positive(run) for run in runs]),
        ("orders", [run.analysis.orders for run in runs]),
    ):
        yield from _differing(f"{name}{OF_SUMMARY}", values, BACKGROUND)


def _of_block(runs: Sequence[SavedRun], block: Block, name: str) -> Iterator[SettingDifference]:
    found = [_grading(run, block) for run in runs]
    instruments = [one["instruments"] for one in found]
    graders = [run.record["answered_by"]["graders"].get(block[0], {}) for run in runs]
    measures = dict.fromkeys(measure for one in instruments for measure in one["versions"])
    named = {
        "what its name stands for": [_short(one["grader"].get("identity")) for one in found],
        "as its provider names it": [_listed(one) for one in graders],
        "reading": [str(one["reading"]["mode"]) for one in found],
        "least captured mass": [str(one["reading"]["minimum_captured"]) for one in found],
        "orders": [str(one["orders"]) for one in found],
        **{
            f"{measure} instrument": [str(one["versions"].get(measure, _NONE))[:8] for one in instruments]
            for measure in measures
        },
        **{
            f"labels of {measure} that count": [", ".join(one["positive"].get(measure, ())) for one in instruments]
            for measure in measures
        },
    }
    for what, values in named.items():
        yield from _differing(f"{name}, {what}", values, CONFOUNDER)


def _differing(name: str, values: Sequence[str], kind: str) -> Iterator[SettingDifference]:
    if len(set(values)) > 1:
        yield SettingDifference(name, tuple(values), kind)


def _grading(run: SavedRun, block: Block) -> Mapping[str, Any]:
    return next(
        grading
        for grading in run.settings["gradings"]
        if (grading["grader"]["name"], grading["instruments"]["set"]) == block
    )


def _system_prompt(run: SavedRun) -> str:
    digest = run.settings["system_prompt_sha256"]
    return str(digest)[:8] if digest else _NONE


def _decoding(run: SavedRun, field: str) -> str:
    decoding = run.settings["decoding"]
    return str(decoding[field]) if decoding else "not known, the responses were provided"


def _dates(run: SavedRun) -> str:
    replies = run.record["replies"]
    days = dict.fromkeys(str(replies[name])[:10] for name in ("first_at", "last_at") if replies[name])
    return " to ".join(days) or _NONE


def _positive(run: SavedRun) -> str:
    return "; ".join(f"{name} {', '.join(labels)}" for name, labels in run.analysis.positive.items()) or "as usual"


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(sorted(names)) or _NONE


def _short(identity: object) -> str:
    text = str(identity or _NONE)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 12]}... ({hashlib.sha256(text.encode('utf-8')).hexdigest()[:8]})"
