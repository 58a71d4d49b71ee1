"""Charts of what ratings say about questions."""

from evenhand.report.charts.chart import Row, bare, chart, named
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES
from evenhand.report.charts.heat import heat_map
from evenhand.report.charts.labels import label, percents
from evenhand.report.effects_summary import EffectsSummary, GraderEffects, QuestionEffect
from evenhand.report.page.blocks import Chart, Shown
from evenhand.report.page.figures import NONE, chance, plain, points, share, whole

MOST_MAPPED = 40
"""Questions that a map of correlations can show."""


def effects_chart(summary: EffectsSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return how well each question tells the chosen output from the rejected one, length among them."""
    rated = summary.blocks[block]
    ranked = by_effect(rated)
    effects = [(one.question, one.effect, f"blocks/{block}/questions/{number}/effect") for number, one in ranked]
    effects.append(("length (no question)", summary.length, "length"))
    lines = [
        Line(name, (effect.superiority,), percents(effect.superiority), f"{effect.superiority.n:,}")
        for name, effect, _ in effects
    ]
    if not any(effect.superiority.value is not None for _, effect, _ in effects):
        return None
    rows: list[Row] = [
        (
            *(name, whole(effect.superiority.n, f"{at}/superiority/n"), share(effect.superiority, f"{at}/superiority")),
            chance(effect.q_value, f"{at}/q_value"),
            plain(effect.auc, f"{at}/auc"),
            plain(effect.mean_difference, f"{at}/mean_difference", signed=True),
            NONE if effect.equal is None else Shown(f"{points(effect.equal)}%", f"{at}/equal"),
        )
        for name, effect, at in effects
    ]
    return chart(
        f"{prefix}effects-{block + 1}",
        "Which questions tell the chosen output from the rejected one",
        [(name, f"{percents(effect.superiority)} percent") for name, effect, _ in effects],
        forest(
            lines,
            SHARES,
            mark=Mark(50, "tells nothing"),
            said="P [95% interval]",
            counted="pairs",
            ends=("rejected higher", "chosen higher"),
        ),
        (("Question", "Pairs", "P(chosen higher)", "q", "AUC", "Mean difference", "Rated equal"), rows),
        note="P(chosen higher) + half of P(equal), in percent; 50 tells nothing. q: of the hypothesis of 50, adjusted"
        f" for the number of questions. {said_of(summary, rated)}",
        before="Points with intervals, a row a question, the farthest from 50 first.",
    )


def leak_chart(summary: EffectsSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return each question's effect with and without the grader being told which output was chosen."""
    rated = summary.blocks[block]
    if rated.leak is None:
        return None
    found = [(one.question, one.leak, f"blocks/{block}/questions/{number}/leak") for number, one in by_effect(rated)]
    leaks = [(name, leak, at) for name, leak, at in found if leak is not None]
    leaks.insert(0, ("all questions", rated.leak, f"blocks/{block}/leak"))
    lines = [
        Line(name, (leak.blind, leak.labelled), percents(leak.leak, signed=True), f"{leak.leak.n:,}")
        for name, leak, _ in leaks
    ]
    rows: list[Row] = [
        (
            *(name, whole(leak.leak.n, f"{at}/leak/n"), share(leak.blind, f"{at}/blind")),
            *(share(leak.labelled, f"{at}/labelled"), share(leak.leak, f"{at}/leak", signed=True)),
            *(plain(leak.swap, f"{at}/swap", signed=True), "leaks" if leak.flagged else ""),
        )
        for name, leak, at in leaks
    ]
    columns = ("Question", "Pairs", "Not told", "Told", "Told minus not told", "Swap, points", "")
    return chart(
        f"{prefix}label-leak-{block + 1}",
        "Label leak: what the effect gains when the grader is told",
        [(name, f"told minus not told {percents(leak.leak, signed=True)}") for name, leak, _ in leaks],
        forest(
            lines,
            SHARES,
            series=("not told", "told which was chosen"),
            mark=Mark(50),
            said="told minus not told",
            counted="pairs",
        ),
        (columns, rows),
        note="Effects in percent, on the pairs and in the orders that were rated both ways. Swap: rating points that"
        f" the same output gains when it is called CHOSEN. {said_of(summary, rated)}",
        before="Points with intervals, two a row: the grader was not told, and was told, which output was chosen.",
    )


def redundancy_chart(summary: EffectsSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the correlations between questions as a map, those of one cluster side by side."""
    rated = summary.blocks[block]
    if len(rated.questions) < 2 or not any(value is not None for row in rated.spearman for value in row):
        return None
    order = _by_cluster(rated)
    note = (
        "Spearman's correlation of the differences between chosen and rejected. Circles: positive; crosses: negative."
    )
    if len(order) > MOST_MAPPED:
        order = order[:MOST_MAPPED]
        note += f" The first {MOST_MAPPED} of {len(rated.questions):,} questions, the largest clusters first."
    names = [rated.questions[at].question for at in order]
    clusters = [rated.questions[at].cluster for at in order]
    table = [[rated.spearman[down][across] for across in order] for down in order]
    rows: list[Row] = []
    spoken = []
    for down, at in enumerate(order):
        path = f"blocks/{block}/spearman/{at}"
        cells = [bare(table[down][across], f"{path}/{order[across]}", signed=True) for across in range(len(order))]
        head = f"{down + 1} {names[down]}"
        rows.append((head, Shown(str(clusters[down]), f"blocks/{block}/questions/{at}/cluster"), *cells))
    for number in dict.fromkeys(clusters):
        members = [label(name) for name, cluster in zip(names, clusters, strict=True) if cluster == number]
        if len(members) > 1:
            spoken.append((f"cluster {number}", ", ".join(members)))
    return chart(
        f"{prefix}redundancy-{block + 1}",
        "Questions that say the same",
        spoken or [("clusters", "each question is one of its own")],
        heat_map(names, clusters, table),
        (("Question", "Cluster", *(str(number + 1) for number in range(len(order)))), rows),
        note=f"{note} Boxes: questions joined into one cluster, where the mean of 1 - |correlation| is at most"
        f" {summary.redundancy_distance:g}. Rated by {named(rated.grader)}, protocol {rated.protocol}.",
        before="A map of correlations between questions.",
    )


def by_effect(block: GraderEffects) -> list[tuple[int, QuestionEffect]]:
    """Return the questions with their places in the block, the ones whose effect is farthest from one half first."""

    def rank(one: tuple[int, QuestionEffect]) -> float:
        value = one[1].effect.superiority.value
        return 1.0 if value is None else -abs(value - 0.5)

    return sorted(enumerate(block.questions), key=rank)


def said_of(summary: EffectsSummary, block: GraderEffects) -> str:
    """Return what the figures of a block rest on."""
    return (
        f"Rated by {named(block.grader)}, protocol {block.protocol}. 95% intervals keep {summary.cluster}s together,"
        f" {summary.draws:,} draws."
    )


def _by_cluster(block: GraderEffects) -> list[int]:
    sizes: dict[int, int] = {}
    for one in block.questions:
        sizes[one.cluster] = sizes.get(one.cluster, 0) + 1

    def key(at: int) -> tuple[int, int, bool, int]:
        one = block.questions[at]
        return -sizes[one.cluster], one.cluster, not one.representative, at

    return sorted(range(len(block.questions)), key=key)
