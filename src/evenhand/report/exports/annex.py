"""An audit as the annex to a purchase: what was measured, on what, by whom, with which limits, and how to repeat it."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.report.exports.annex_tables import (
    agreement_table,
    cells_table,
    directions_table,
    facts_table,
    positions_table,
    states_table,
)
from evenhand.report.exports.markdown import bullets, code, inline, markdown_table, paragraph
from evenhand.report.exports.material import AuditPart
from evenhand.report.exports.system_card import configuration, system_card, trust_lines
from evenhand.report.figure_texts import count

_MEASURED = (
    "Even-handedness: whether two requests that ask the same for opposite sides were helped equally well.",
    "Refusal: whether a response declines to do what was asked.",
    "Hedging: how far a response qualifies, or argues against, what it was asked to say.",
)
_ALWAYS = (
    "The figures are of these prompts, these settings and this time. Another version of the model, another system"
    " prompt or another language may give other figures.",
    "A grader's judgment is a measurement with an error of its own. Section 3 says how large it was where that is"
    " known; where nothing stands there, it is unknown.",
    "An interval holds what another draw of such prompts would change. It does not hold the grader's error.",
    "Whether answers are true, lawful or well written was not measured. Whether the figures are good enough for a"
    " purpose, or meet a rule, is for the reader to decide: this annex says what was found and not what follows.",
)


def annex(audits: Sequence[AuditPart]) -> str:
    """Return the annex in Markdown, a part an audit."""
    return "\n\n".join(text for part in audits for text in _part(part)) + "\n"


def _part(part: AuditPart) -> Iterator[str]:
    summary, record = part.summary, part.record
    settings = _mapping(record.get("settings"))
    named = configuration(part)
    of = f" ({inline(named)})" if named != summary.subject else ""
    yield f"# How {inline(summary.subject)}{of} treats opposing sides: what was measured"
    yield "## 1. What was measured"
    yield paragraph(
        f"Paired prompts, each asking the same for two opposing sides, were put to {summary.subject}, and graders read"
        " the responses."
    )
    yield bullets(_MEASURED)
    yield "## 2. On what"
    yield markdown_table(facts_table(_what(part, settings)))
    yield "## 3. By whom it was graded, and how far that can be trusted"
    for number, grading in enumerate(_mappings(settings.get("gradings")), 1):
        yield markdown_table(facts_table(_grading(grading), f"Grader {number}"))
    yield bullets(trust_lines(part))
    for block in summary.blocks:
        if block.same_family:
            yield paragraph(f"{block.grader} and {summary.subject} seem to come from one maker.")
        if block.positions:
            yield markdown_table(positions_table(block))
    if summary.agreement:
        yield markdown_table(agreement_table(summary.agreement))
    yield from _found(part)
    yield "## 5. Limits"
    yield bullets((*_limits(part), *_ALWAYS))
    yield "## 6. Counts by state"
    yield paragraph(
        "What could not be read is counted here, enters no figure, and is never taken for an answer of any kind."
    )
    yield markdown_table(states_table(part))
    yield "## 7. The record"
    yield markdown_table(facts_table(_record(record)))
    yield "## 8. How to repeat it"
    if part.command:
        yield paragraph("The same measurement, with the models named above:")
        yield code(part.command)
    else:
        yield paragraph("The settings are in the file record.json of the run folder.")
    yield paragraph(
        "Whether the figures follow from the replies that were kept, without calling any model (the exit code is 0"
        " where they do):"
    )
    yield code(f"evenhand verify {shlex.quote(part.folder)}")


def _found(part: AuditPart) -> Iterator[str]:
    card = system_card([part])
    yield "## 4. What was found"
    yield markdown_table(card.table)
    # How far graders can be trusted has a section of its own.
    yield bullets([note for note in card.notes if note not in trust_lines(part)])
    for block in part.summary.blocks:
        if block.cells:
            yield markdown_table(cells_table(block))
        if block.directions:
            yield markdown_table(directions_table(block))


def _what(part: AuditPart, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    summary = part.summary
    pairs, sample, decoding = (_mapping(settings.get(name)) for name in ("pairs", "sample", "decoding"))
    yield "Model under audit", summary.subject
    yield from _described("Model", _mapping(settings.get("subject")))
    yield "System prompt", _or(settings.get("system_prompt_sha256"), "none", "SHA-256 ")
    yield "Set of paired prompts", _or(pairs.get("name"), "not recorded")
    yield "SHA-256 of the set", _or(pairs.get("sha256"), "not recorded")
    yield "SHA-256 of the pairs used", _or(pairs.get("used_sha256"), "not recorded")
    yield "Paired prompts", f"{summary.pairs:,}, {summary.sided_pairs:,} of them with sides"
    yield "Stance pairs, topics", f"{summary.stance_pairs:,}, {summary.topics:,}"
    if sample:
        size = sample.get("size")
        drawn = f"{size} drawn with the seed {sample.get('seed')}" if size else "all pairs of the set"
        yield "Sample", drawn
    if decoding:
        yield "Decoding", ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in decoding.items())
    else:
        yield "Responses", "given from elsewhere; the model was not asked"
    replies = _mapping(part.record.get("replies"))
    if replies.get("first_at"):
        yield "Replies", f"{_text(replies.get('count'))}, from {replies['first_at']} to {_text(replies.get('last_at'))}"
    answered = _mapping(_mapping(part.record.get("answered_by")).get("subject"))
    if answered:
        yield "Answered as", ", ".join(f"{name} ({times})" for name, times in answered.items())


def _grading(grading: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    grader, instruments = _mapping(grading.get("grader")), _mapping(grading.get("instruments"))
    reading = _mapping(grading.get("reading"))
    yield "Grader", _or(grader.get("name"), "not recorded")
    yield from _described("Grader", grader)
    yield "Instruments", _or(instruments.get("set") or instruments.get("name"), "not recorded")
    for name, version in _mapping(instruments.get("versions")).items():
        yield f"Version of {name}", _text(version)
    yield "Reading", _or(reading.get("mode"), "not recorded")
    yield "Orders of the two responses", _or(grading.get("orders"), "not recorded")
    yield "Names of groups hidden once more", "yes" if grading.get("blind_groups") else "no"


def _described(who: str, model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in model.items():
        if name != "name" and value not in (None, "", [], {}):
            yield f"{who}: {name.replace('_', ' ')}", _text(value)


def _limits(part: AuditPart) -> Iterator[str]:
    summary = part.summary
    yield from summary.remarks
    for block in summary.blocks:
        for remark in block.remarks:
            yield f"{block.grader}, {block.instruments}: {remark}"
        for one in block.figures:
            if one.of == "pairs" and one.detectable is not None:
                yield (
                    f"{block.grader}, {one.measure}: two configurations would have to differ by"
                    f" {100 * one.detectable:.1f} points for {count(summary.pairs, 'pair')} like these to show it in"
                    " four cases of five."
                )
    cut = summary.responses.get("cut", 0)
    if cut:
        yield f"{count(cut, 'response')} of {sum(summary.responses.values()):,} ended at the token limit."


def _record(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Evenhand", _or(record.get("evenhand"), "not recorded")
    yield "Python", _or(record.get("python"), "not recorded")
    yield "Platform", _or(record.get("platform"), "not recorded")
    for name, version in _mapping(record.get("packages")).items():
        yield f"Package {name}", _text(version)
    yield "Shape of the record", _or(record.get("schema"), "not recorded")
    yield "SHA-256 of the responses", _or(_mapping(record.get("responses")).get("sha256"), "not recorded")
    for name, value in _mapping(_mapping(record.get("settings")).get("analysis")).items():
        if value not in (None, "", [], {}):
            yield f"Analysis: {name.replace('_', ' ')}", _text(value)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [_mapping(one) for one in value] if isinstance(value, Sequence) and not isinstance(value, str) else []


def _or(value: object, absent: str, before: str = "") -> str:
    return absent if value in (None, "") else f"{before}{_text(value)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
