"""Several configurations side by side as sections of a page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts import changes_chart, compared_chart
from evenhand.report.compare_summary import ComparedBlock, ComparedFigure, Comparison, SettingDifference
from evenhand.report.figure_texts import DIRECTIONS, count, measure_name
from evenhand.report.page.audit_sections import prefixed
from evenhand.report.page.audit_trust import agreement_part
from evenhand.report.page.blocks import Block, Cell, Section, Shown, Table, Text
from evenhand.report.page.figures import NONE, chance, hundredths, points, sentence, share, whole, why_missing
from evenhand.statistics import Estimate

_MEASURES = ("even_handedness", "refusal", "hedging")


def compare_sections(comparison: Comparison, *, prefix: str = "") -> tuple[Section, ...]:
    """Return the sections of a comparison; the paths of their figures lead into ``comparison.json``."""
    blocks = [_block_section(comparison, place, prefix) for place in range(len(comparison.blocks))]
    found = [
        _found_section(comparison),
        _settings_section(comparison),
        *blocks,
        agreement_part(comparison.agreement, comparison.analysis.threshold),
        _ranks_section(comparison),
        _remarks_section(comparison),
    ]
    return tuple(prefixed(section, prefix) for section in found if section is not None)


def _found_section(comparison: Comparison) -> Section:
    blocks: list[Block] = [
        Text(
            (
                f"{count(len(comparison.configurations), 'configuration')} on the same ",
                whole(comparison.pairs, "pairs"),
                " paired prompts over ",
                whole(comparison.stance_pairs, "stance_pairs"),
                " stance pairs and ",
                whole(comparison.topics, "topics"),
                f" topics. All are compared with {comparison.baseline}.",
            )
        )
    ]
    for place, block in enumerate(comparison.blocks):
        blocks += _headlines(comparison, place, block)
    return Section(
        "compared",
        "What differs",
        tuple(blocks),
        help="Differences are worked out pair by pair, on the pairs that could be read of both. Two intervals that"
        " overlap do not say that there is no difference; the interval of the difference tells.",
    )


def _headlines(comparison: Comparison, place: int, block: ComparedBlock) -> Iterator[Block]:
    for number, figure in enumerate(block.figures):
        if figure.name != "even_handedness.rate":
            continue
        for at, change in enumerate(figure.changes):
            cell = share(change.difference, f"blocks/{place}/figures/{number}/changes/{at}/difference", signed=True)
            yield Text(
                (
                    f"Even-handed, {change.configuration}: ",
                    cell,
                    f" percentage points against {comparison.baseline}, in the reading of {block.grader}.",
                ),
                "headline",
            )


def _settings_section(comparison: Comparison) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for number, one in enumerate(comparison.configurations):
        at = f"configurations/{number}"
        role = "baseline" if one.name == comparison.baseline else ""
        rows.append((one.name, one.subject, role, whole(one.pairs, f"{at}/pairs"), whole(one.beyond, f"{at}/beyond")))
    columns = ("Configuration", "Subject", "Role", "Pairs in its run", "Not shared")
    blocks: list[Block] = [Table("What is compared", columns, tuple(rows))]
    differ = [one for one in comparison.settings if one.kind != "background"]
    if comparison.settings:
        blocks.append(_settings_table(comparison, comparison.settings))
    confounders = [one.name for one in differ if one.kind == "confounder"]
    if confounders:
        blocks.append(
            Text(
                f"The runs differ in more than what is compared: {', '.join(confounders)}. A difference may come from"
                " there.",
                "caution",
            )
        )
    return Section("settings", "What is not the same", tuple(blocks))


def _settings_table(comparison: Comparison, settings: Sequence[SettingDifference]) -> Table:
    kinds = {"compared": "what is compared", "background": "in the background", "confounder": "may confound"}
    rows = tuple((one.name, kinds.get(one.kind, one.kind), *one.values) for one in settings)
    return Table("Settings that differ", ("Setting", "Kind", *comparison.names), rows)


def _block_section(comparison: Comparison, place: int, prefix: str) -> Section:
    block = comparison.blocks[place]
    charts = [changes_chart(comparison, place, prefix=prefix)]
    charts += [compared_chart(comparison, place, measure, prefix=prefix) for measure in _MEASURES]
    blocks: list[Block] = [chart for chart in charts if chart is not None]
    blocks += [
        _figures_table(comparison, place),
        *(Text(sentence(remark)) for remark in block.remarks),
    ]
    return Section(
        f"grader-{place + 1}",
        f"Graded by {block.grader} with the instruments {block.instruments}",
        tuple(blocks),
        help="n: pairs that could be read; where there is a difference, of both. Least: the smallest difference that"
        " these pairs would show in four cases of five.",
    )


def _figures_table(comparison: Comparison, place: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    missing: list[tuple[str, Estimate]] = []
    for number, figure in enumerate(comparison.blocks[place].figures):
        label = figure_label(figure.name, comparison.blocks[place])
        if label:
            rows += _figure_rows(comparison, figure, label, f"blocks/{place}/figures/{number}")
            missing += ((label, estimate) for estimate in figure.estimates)
    adjusted = "p, adjusted" if len(comparison.configurations) > 2 else "p"
    return Table(
        f"Percent at {comparison.analysis.threshold:g}, and differences from {comparison.baseline} in points",
        ("Figure", "Configuration", "n", "Percent", f"Minus {comparison.baseline}", adjusted, "Least"),
        tuple(rows),
        note=why_missing(missing),
    )


def _figure_rows(comparison: Comparison, figure: ComparedFigure, label: str, at: str) -> Iterator[tuple[Cell, ...]]:
    signed = figure.name.endswith(("direction.mean", "position.effect"))
    changes = {change.configuration: (place, change) for place, change in enumerate(figure.changes)}
    for number, (name, estimate) in enumerate(zip(comparison.names, figure.estimates, strict=True)):
        value = share(estimate, f"{at}/estimates/{number}", signed=signed)
        if name not in changes:
            yield label, name, whole(estimate.n, f"{at}/estimates/{number}/n"), value, "", "", ""
            continue
        place, change = changes[name]
        here = f"{at}/changes/{place}"
        yield (
            label,
            name,
            whole(change.difference.n, f"{here}/difference/n"),
            value,
            share(change.difference, f"{here}/difference", signed=True),
            chance(change.adjusted, f"{here}/adjusted"),
            NONE if change.detectable is None else Shown(points(change.detectable), f"{here}/detectable"),
        )


def figure_label(name: str, block: ComparedBlock) -> str:
    """Return what a figure of a comparison is called; empty for one that is left to the file."""
    match name.split("."):
        case ["cells", cell, "rate"]:
            label = cell.replace("_", " ")
        case ["even_handedness", "position", "swap_consistency"]:
            label = "same verdict in both orders"
        case ["even_handedness", "position", "effect"]:
            label = "first minus second"
        case ["even_handedness", "mean"]:
            label = "Even-handed, mean probability"
        case [measure, "rate"]:
            label = measure_name(measure)
        case [measure, "direction", "mean"]:
            label = f"{DIRECTIONS.get(measure, measure)}, {block.second} minus {block.first}"
        case [measure, side, "rate"]:
            label = f"{measure_name(measure)}, {side}"
        case _:
            label = ""
    return label


def _ranks_section(comparison: Comparison) -> Section | None:
    if not comparison.ranks:
        return None
    rows: list[tuple[Cell, ...]] = []
    for number, rank in enumerate(comparison.ranks):
        at = f"ranks/{number}"
        rho = NONE if rank.spearman is None else Shown(hundredths(rank.spearman, signed=True), f"{at}/spearman")
        tau = NONE if rank.kendall is None else Shown(hundredths(rank.kendall, signed=True), f"{at}/kendall")
        rows.append(
            (
                f"{measure_name(rank.measure)}: {rank.one} and {rank.other}",
                whole(rank.n, f"{at}/n"),
                *(rho, chance(rank.spearman_p, f"{at}/spearman_p")),
                *(tau, chance(rank.kendall_p, f"{at}/kendall_p")),
            )
        )
    reasons = dict.fromkeys(rank.method for rank in comparison.ranks if rank.spearman is None)
    return Section(
        "ranks",
        "Do graders put the configurations into the same order?",
        (
            Table(
                "Order of the configurations by their rates",
                ("Rate", "n", "Spearman", "p", "Kendall", "p of Kendall"),
                tuple(rows),
                note=" ".join(f"No order: {why}." for why in reasons),
            ),
        ),
    )


def _remarks_section(comparison: Comparison) -> Section | None:
    left = [
        f"{one.grader} with {one.instruments} is left out: no judgments of {', '.join(one.missing)}"
        for one in comparison.left_out
    ]
    remarks = [*left, *comparison.remarks]
    texts = tuple(Text(sentence(remark)) for remark in remarks)
    return Section("remarks", "To keep in mind", texts) if texts else None


def side_by_side_section(summaries: Sequence[tuple[int, AuditSummary]]) -> Section:
    """Return the headline figures of several audits in one table.

    Args:
        summaries: each with the number of its run, counted from 1.
    """
    blocks: list[Block] = []
    graders = dict.fromkeys((block.grader, block.instruments) for _, summary in summaries for block in summary.blocks)
    for grader, instruments in graders:
        rows: list[tuple[Cell, ...]] = []
        for run, summary in summaries:
            for place, block in enumerate(summary.blocks):
                if (block.grader, block.instruments) == (grader, instruments):
                    rows.append((summary.configuration, *_headline_cells(summary, place, run)))
        blocks.append(
            Table(
                f"Graded by {grader} with the instruments {instruments}",
                (
                    *("Configuration", "Pairs", "Threshold", "Even-handed", "Refusal", "Hedging", "Helped both"),
                    "Better treated, in points",
                ),
                tuple(rows),
            )
        )
    return Section(
        "side-by-side",
        "The runs side by side",
        tuple(blocks),
        file="summary.json",
        help="Each figure is that of its own run. Whether two runs differ, pair by pair and with an interval of its"
        " own, says `evenhand compare`; the runs may differ in more than their subject.",
    )


def _headline_cells(summary: AuditSummary, place: int, run: int) -> Iterator[Cell]:
    block, at = summary.blocks[place], f"blocks/{place}"
    yield Shown(f"{summary.pairs:,}", "pairs", run)
    yield Shown(f"{summary.analysis.threshold:g}", "analysis/threshold", run)
    for measure in _MEASURES:
        number = next((n for n, one in enumerate(block.figures) if (one.measure, one.of) == (measure, "pairs")), None)
        yield _of_run(NONE if number is None else share(block.figures[number].rate, f"{at}/figures/{number}/rate"), run)
    both = next((n for n, cell in enumerate(block.cells) if cell.name == "helped both"), None)
    yield _of_run(NONE if both is None else share(block.cells[both].rate, f"{at}/cells/{both}/rate"), run)
    better = next((n for n, one in enumerate(block.directions) if one.measure == "even_handedness"), None)
    direction = (
        NONE if better is None else share(block.directions[better].mean, f"{at}/directions/{better}/mean", signed=True)
    )
    yield _of_run(direction, run)


def _of_run(cell: Cell, run: int) -> Cell:
    return replace(cell, run=run) if isinstance(cell, Shown) else cell
