"""The page's sections of a run of ratings: what the questions say of the data, and the fit where there is one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.report.charts import (
    effects_chart,
    held_out_chart,
    leak_chart,
    penalty_chart,
    redundancy_chart,
    weights_chart,
)
from evenhand.report.charts.fit_charts import by_weight
from evenhand.report.charts.labels import label
from evenhand.report.charts.rating_charts import by_effect
from evenhand.report.effects_summary import EffectsSummary, GraderEffects
from evenhand.report.page.blocks import Block, Cell, Command, Section, Shown, Table, Text
from evenhand.report.page.figures import NONE, hundredths, plain, points, share, whole
from evenhand.report.page.rate_record import fit_command, rate_record_section
from evenhand.report.scoring_spec import ScoringSpec

_TOLD = 0.05
"""Questions with q below this are among the headlines."""
_MOST_TOLD = 3
_STATES = ("ok", "abstained", "unparseable", "truncated", "unanswered", "declined", "failed")


def effects_sections(
    summary: EffectsSummary,
    record: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]] = (),
    *,
    prefix: str = "",
    run: str = "RUN",
) -> tuple[Section, ...]:
    """Return the sections of ``effects.json``; the paths of their figures lead into it.

    Args:
        summary: what the ratings say.
        record: of the run.
        questions: of ``questions.json``; those that have no figure are named.
        prefix: goes before every anchor and every chart's name.
        run: the folder as the user named it.
    """
    found = [
        _headlines(summary),
        _by_grader(
            Section(
                "effects",
                "Which questions tell the chosen output from the rejected one",
                help="50 percent tells nothing, 100 that the chosen output is always rated higher. Length is no"
                " question and stands below as the mark to beat. A question that tells the two apart need not be what"
                " people chose for.",
            ),
            summary,
            lambda place: _effects(summary, place, questions, prefix),
        ),
        _by_grader(
            Section(
                "label-leak",
                "Label leak: what telling the grader does",
                help="A part of the pairs was rated once more with the grader told which output was chosen. What the"
                " effects gain by that comes from the label and not from the texts.",
            ),
            summary,
            lambda place: _leak(summary, place, prefix),
        ),
        _by_grader(
            Section(
                "redundancy",
                "Questions that say the same",
                help="Questions whose differences rise and fall together over the pairs are joined into clusters; one"
                " of each, the one with the effect farthest from 50, can stand for the rest.",
            ),
            summary,
            lambda place: _redundancy(summary, place, prefix),
        ),
        _by_grader(
            Section(
                "unread-ratings",
                "What could not be rated",
                help="An output without a rating enters no figure, and is never scored.",
            ),
            summary,
            lambda place: _states(summary, place),
        ),
        _data(summary, record),
        rate_record_section(summary, record, run),
    ]
    return tuple(_prefixed(section, prefix) for section in found if section is not None)


def fit_sections(spec: ScoringSpec, *, prefix: str = "", run: str = "RUN") -> tuple[Section, ...]:
    """Return the sections of ``spec.json``; the paths of their figures lead into it. Arguments as above."""
    weights, held_out, penalties = (
        made(spec, prefix=prefix) for made in (weights_chart, held_out_chart, penalty_chart)
    )
    found = [
        Section(
            "fit",
            "A scoring spec: what predicts preference",
            (*_fit_headlines(spec), *((held_out,) if held_out else ()), *_calibration(spec)),
            help="The difference of two outputs' scores is the log odds that the first is chosen. How well that"
            " predicts was measured on pairs that no fit had seen.",
        ),
        Section(
            "weights",
            "Weights",
            (*((weights,) if weights else ()), _spec_questions(spec)),
            help="What a rating point of each question is worth. A weight says what the data reward beside the other"
            " questions, and not what is good.",
        ),
        Section(
            "fit-made",
            "How the fit was made",
            (
                *(Text(_sentence(remark), "caution") for remark in spec.remarks),
                Text(
                    f"Elastic net with {spec.fit.l1_ratio:g} absolute, {spec.fit.folds}-fold cross-validation grouped"
                    f" by input ({spec.fit.rule}), {spec.fit.half_samples} half-samples."
                ),
                *((penalties,) if penalties else ()),
                Command(fit_command(spec, run), "Make the fit again"),
            ),
        ),
    ]
    return tuple(_prefixed(section, prefix) for section in found)


def _sentence(remark: str) -> str:
    return f"{remark[:1].upper()}{remark[1:]}."


def _prefixed(section: Section, prefix: str) -> Section:
    inner = tuple(_prefixed(one, prefix) for one in section.sections)
    return replace(section, anchor=prefix + section.anchor, sections=inner)


def _by_grader(
    section: Section, summary: EffectsSummary, blocks_of: Callable[[int], Iterable[Block]]
) -> Section | None:
    """Return a section with a part a grader, or with the blocks of the only one; None where there is nothing."""
    found = [tuple(blocks_of(place)) for place in range(len(summary.blocks))]
    if not any(found):
        return None
    if len(found) == 1:
        return replace(section, blocks=section.blocks + found[0])
    parts = (
        Section(f"{section.anchor}-{place + 1}", _rated_by(summary.blocks[place]), blocks)
        for place, blocks in enumerate(found)
        if blocks
    )
    return replace(section, sections=tuple(parts))


def _rated_by(block: GraderEffects) -> str:
    return f"Rated by {block.grader}, protocol {block.protocol}"


def _headlines(summary: EffectsSummary) -> Section:
    over: tuple[Cell, ...] = ()
    if summary.cluster == "input":
        over = (" over ", whole(summary.inputs, "inputs"), " inputs")
    ties = (", of them ", whole(summary.ties, "ties"), " ties.")
    made_of: tuple[Cell, ...] = (whole(summary.pairs, "pairs"), " preference pairs", *over, *ties)
    section = Section(
        "found",
        "What the data reward",
        (Text(made_of),),
        help="P is how often the chosen output was rated higher than the rejected one, pairs rated the same counting"
        " half. 95% intervals in brackets.",
    )
    return _by_grader(section, summary, lambda place: _told(summary, place)) or section


def _told(summary: EffectsSummary, place: int) -> Iterator[Block]:
    block = summary.blocks[place]
    told = [
        (number, one)
        for number, one in by_effect(block)
        if one.effect.q_value is not None and one.effect.q_value < _TOLD
    ]
    for number, one in told[:_MOST_TOLD]:
        figure = one.effect.superiority
        rest = f" that the chosen output is rated higher, over {figure.n:,} pairs: {one.text}"
        at = f"blocks/{place}/questions/{number}/effect/superiority"
        yield Text((f"{label(one.question, 60)}: ", share(figure, at), rest), "headline")
    length = summary.length.superiority
    longer = " that the chosen output is the longer one"
    yield Text(("Length: ", share(length, "length/superiority"), longer), "headline")
    if not told:
        yield Text(
            f"No question of {len(block.questions):,} tells the chosen output from the rejected one beyond what chance"
            f" would give (q below {_TOLD:g}). With few pairs that is no proof that none does.",
            "caution",
        )
    else:
        yield Text(
            (f"{len(told):,} of {len(block.questions):,} questions tell the two apart (q below {_TOLD:g})."), "note"
        )
    yield from (Text(_sentence(remark), "caution") for remark in block.remarks)


def _effects(
    summary: EffectsSummary, place: int, questions: Sequence[Mapping[str, Any]], prefix: str
) -> Iterator[Block]:
    block = summary.blocks[place]
    chart = effects_chart(summary, place, prefix=prefix)
    if chart:
        yield chart
    directed = any(one.direction for one in block.questions)
    rows: list[tuple[Cell, ...]] = []
    for number, one in by_effect(block):
        at = f"blocks/{place}/questions/{number}"
        rows.append(
            (
                *(one.question, one.text, *((one.direction or NONE,) if directed else ())),
                share(one.effect.superiority, f"{at}/effect/superiority"),
                plain(one.reliability.both_orders, f"{at}/reliability/both_orders"),
                plain(one.reliability.order_effect, f"{at}/reliability/order_effect", signed=True),
                Shown(str(one.cluster), f"{at}/cluster"),
            )
        )
    columns = (
        *("Question", "Its words", *(("Direction",) if directed else ())),
        *("P(chosen higher)", "Reliability", "First place", "Cluster"),
    )
    reliabilities = (one.reliability.both_orders for one in block.questions)
    why = sorted({one.method for one in reliabilities if one.value is None})
    note = (
        "Reliability: of the mean of both orders, 1 is perfect. First place: rating points that an output gains by"
        " standing first."
    )
    if directed:
        note += " Direction: which rating is commonly thought better, as the question's author said."
    yield Table("The questions", columns, tuple(rows), note + "".join(f" No reliability: {one}." for one in why))
    rated = {one.question for one in block.questions}
    unrated = [str(one.get("id")) for one in questions if one.get("id") not in rated]
    if unrated:
        yield Text(f"Not rated by {block.grader}: {', '.join(unrated)}.", "note")


def _leak(summary: EffectsSummary, place: int, prefix: str) -> Iterator[Block]:
    leak = summary.blocks[place].leak
    chart = leak_chart(summary, place, prefix=prefix)
    if leak is None or chart is None:
        return
    at = f"blocks/{place}/leak"
    said = share(leak.leak, f"{at}/leak", signed=True)
    yield Text(("Told minus not told, over all questions: ", said, " percentage points"), "headline")
    yield (
        Text("The grader's ratings move with the label: labelled effects say in part what it was told.", "caution")
        if leak.flagged
        else Text(
            f"No leak beyond {100 * summary.leak_size:g} points was shown over all questions; small samples can't show"
            " one.",
            "note",
        )
    )
    yield chart


def _redundancy(summary: EffectsSummary, place: int, prefix: str) -> Iterator[Block]:
    chart = redundancy_chart(summary, place, prefix=prefix)
    if chart is None:
        return
    yield chart
    clusters: dict[int, list[tuple[bool, str]]] = {}
    for one in summary.blocks[place].questions:
        clusters.setdefault(one.cluster, []).append((one.representative, one.question))
    for number, members in clusters.items():
        head = ", ".join(name for stands, name in members if stands)
        rest = ", ".join(name for stands, name in members if not stands)
        if rest:
            yield Text(f"Cluster {number}: {head} stands for {rest}.")


def _states(summary: EffectsSummary, place: int) -> Iterator[Block]:
    questions = summary.blocks[place].questions
    found = [
        state for state in _STATES[1:] if any(counts.get(state) for one in questions for counts in one.states.values())
    ]
    if not found:
        total = sum(sum(counts.values()) for one in questions for counts in one.states.values())
        yield Text(f"All {total:,} ratings could be read.")
        return
    rows: list[tuple[Cell, ...]] = []
    for number, one in enumerate(questions):
        for output, counts in one.states.items():
            at = f"blocks/{place}/questions/{number}/states/{output}"
            cells = (whole(counts[name], f"{at}/{name}") if name in counts else "0" for name in ("ok", *found))
            rows.append((one.question, output, *cells))
    yield Table("Ratings by state", ("Question", "Output", "read", *found), tuple(rows))


def _data(summary: EffectsSummary, record: Mapping[str, Any]) -> Section:
    length = summary.length.superiority
    blocks: list[Block] = [Text(_sentence(remark), "caution") for remark in summary.remarks]
    problems = _of(record, "settings", "pairs").get("problems")
    if isinstance(problems, int) and problems:
        blocks.append(
            Text(f"{problems:,} rows of the file could not be used; evenhand inspect-data says which.", "caution")
        )
    if length.low is not None and length.high is not None and not length.low <= 0.5 <= length.high:
        longer = "longer" if length.low > 0.5 else "shorter"
        blocks.append(
            Text(
                (
                    f"The {longer} output is the chosen one more often than not: ",
                    share(length, "length/superiority"),
                    " that the chosen one is longer. A question that goes with length may tell no more than length.",
                ),
                "caution",
            )
        )
    if not blocks:
        blocks.append(Text("Nothing stands out in what was read of the data."))
    return Section(
        "data",
        "What to mind about the data",
        tuple(blocks),
        help="evenhand inspect-data FILE looks at the file itself before anything is spent: doubled, empty and"
        " contradictory pairs, and what length says.",
    )


def _of(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = values.get(name)
        values = found if isinstance(found, Mapping) else {}
    return values


def _fit_headlines(spec: ScoringSpec) -> Iterator[Block]:
    yield Text(
        (
            f"From the ratings of {spec.grader}, protocol {spec.protocol}: ",
            *(whole(spec.pairs, "pairs"), " pairs over ", whole(spec.inputs, "inputs"), " inputs, "),
            *(whole(spec.ties, "ties"), " of them ties."),
        )
    )
    auc = share(spec.held_out.auc, "held_out/auc")
    yield Text(("Area under the curve on unseen pairs: ", auc, " where 50% is chance"), "headline")
    gain = share(spec.gain_over_length, "gain_over_length", signed=True)
    yield Text(("More than length alone: ", gain, " percentage points of it"), "headline")


def _calibration(spec: ScoringSpec) -> Iterator[Block]:
    error, slope = spec.held_out.calibration_error, spec.held_out.calibration_slope
    if error is not None and slope is not None:
        yield Text(
            (
                "Calibration on unseen pairs: expected error ",
                Shown(hundredths(error), "held_out/calibration_error"),
                ", slope ",
                Shown(hundredths(slope), "held_out/calibration_slope"),
                ". At a slope of 1 the probabilities are as sure as they should be, below 1 they are too sure.",
            )
        )
    reliability = spec.ceiling.reliability
    if reliability.value is None:
        yield Text(f"The ceiling that the grader's noise sets is not estimable: {reliability.method}.", "note")
    else:
        yield Text(("Reliability of the score, both orders: ", plain(reliability, "ceiling/reliability"), "."))


def _spec_questions(spec: ScoringSpec) -> Table:
    rows: list[tuple[Cell, ...]] = []
    directed = any(one.direction for one in spec.questions)
    abstained = any(one.abstained_weight for one in spec.questions)
    for number, one in by_weight(spec):
        at = f"questions/{number}"
        rows.append(
            (
                *(one.id, one.text, *((one.direction or NONE,) if directed else ())),
                Shown(hundredths(one.centre), f"{at}/centre"),
                Shown(hundredths(one.weight, signed=True), f"{at}/weight"),
                *(
                    (Shown(hundredths(one.abstained_weight, signed=True), f"{at}/abstained_weight"),)
                    if abstained
                    else ()
                ),
                Shown(f"{points(one.stability)}%", f"{at}/stability"),
            )
        )
    return Table(
        "The spec",
        (
            *("Question", "Its words", *(("Direction",) if directed else ()), "Centre", "Weight"),
            *(*(("Where it can't be answered",) if abstained else ()), "Stability"),
        ),
        tuple(rows),
        "Score: the sum of weight x (rating - centre). Stability: share of half-samples with a weight that is not 0.",
    )
