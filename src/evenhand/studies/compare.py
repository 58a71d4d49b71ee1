"""Are two ways of asking, or two subjects, different? Runs compared on the pairs that they share."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from evenhand.errors import InputError
from evenhand.graders.fitted.judging import is_fitted
from evenhand.report import Analysis
from evenhand.report.compare_summary import (
    ComparedBlock,
    ComparedFigure,
    Comparison,
    Configuration,
    LeftOut,
    RankAgreement,
)
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.rank_correlation import FEWEST, kendall, spearman
from evenhand.studies.audit.arrays import BlockArrays
from evenhand.studies.audit.families import same_family
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import Block, block_arrays, block_names, grader_agreement
from evenhand.studies.audit.plan import AnalysisPlan
from evenhand.studies.audit.positive import check_positive
from evenhand.studies.audit.saved_run import SavedRun, read_saved_run
from evenhand.studies.compare_figures import compared_figures, rates
from evenhand.studies.compare_pairs import SharedPairs, shared_pairs
from evenhand.studies.compare_remarks import remarks_of_block, remarks_of_comparison
from evenhand.studies.compare_settings import setting_differences


def compare(
    paths: Sequence[Path],
    *,
    analysis: AnalysisPlan | None = None,
    names: Sequence[str] | None = None,
    baseline: int = 1,
) -> Comparison:
    """Compare the runs in these folders on the pairs that all of them have; no model is called.

    Args:
        paths: run folders, each a configuration.
        analysis: how judgments become figures; what it leaves open is as in the baseline's run.
        names: of the configurations, in place of those that the runs give.
        baseline: which run the others are compared with, counted from 1.

    Raises:
        InputError: fewer than two runs, a folder that holds no run, no pair or no grader that all have.
    """
    if len(paths) < 2:
        raise InputError("a comparison needs two runs or more", way_out="name their folders one after another")
    if not 1 <= baseline <= len(paths):
        raise InputError(
            f"is {baseline}", field="--baseline", way_out=f"give the place of a run, from 1 to {len(paths)}"
        )
    runs = [read_saved_run(path) for path in paths]
    called = _names(runs, names)
    full = (analysis or AnalysisPlan()).over(runs[baseline - 1].analysis)
    check_positive(full.positive, [instruments for run in runs for instruments in run.sets])
    return _Comparing(runs, called, shared_pairs(runs, baseline - 1), full, called[baseline - 1]).comparison()


class _Comparing:
    """Runs on their way into a comparison."""

    def __init__(
        self, runs: Sequence[SavedRun], names: Sequence[str], shared: SharedPairs, analysis: Analysis, baseline: str
    ) -> None:
        self._runs = dict(zip(names, runs, strict=True))
        self._shared, self._analysis, self._baseline = shared, analysis, baseline
        self._blocks = {name: blocks_of(run) for name, run in self._runs.items()}
        clusters = [pair.topic if analysis.unit == "topic" else pair.stance_id for pair in shared.pairs]
        self._bootstrap = ClusterBootstrap(clusters, seed=analysis.seed, draws=analysis.draws, kind=analysis.interval)

    def comparison(self) -> Comparison:
        common, left_out = self._common_blocks()
        arrays = {
            block: {
                name: block_arrays(self._shared.pairs, self._blocks[name][block], self._analysis) for name in self._runs
            }
            for block in common
        }
        settings = setting_differences(list(self._runs.values()), common)
        blocks = tuple(self._block(block, each) for block, each in arrays.items())
        configurations = tuple(self._configurations())
        return Comparison(
            configurations=configurations,
            baseline=self._baseline,
            pairs=len(self._shared.pairs),
            stance_pairs=len({pair.stance_id for pair in self._shared.pairs}),
            topics=len({pair.topic for pair in self._shared.pairs}),
            analysis=self._analysis,
            settings=tuple(settings),
            blocks=blocks,
            left_out=tuple(left_out),
            agreement=grader_agreement(
                self._shared.pairs,
                {block: list(each.values()) for block, each in arrays.items()},
                subjects=[run.subject for run in self._runs.values()],
                analysis=self._analysis,
            ),
            ranks=tuple(rank_agreement({block: one.figures for block, one in zip(common, blocks, strict=True)})),
            remarks=tuple(
                remarks_of_comparison(configurations, self._shared.pairs, self._analysis, settings, self._same_texts())
            ),
        )

    def _configurations(self) -> Iterator[Configuration]:
        for (name, run), beyond, changed in zip(
            self._runs.items(), self._shared.beyond, self._shared.changed, strict=True
        ):
            yield Configuration(name, str(run.folder), run.subject, len(run.pairs), beyond, changed)

    def _common_blocks(self) -> tuple[list[Block], list[LeftOut]]:
        every = list(dict.fromkeys(block for blocks in self._blocks.values() for block in blocks))
        missing = {block: [name for name, blocks in self._blocks.items() if block not in blocks] for block in every}
        common = [block for block in every if not missing[block]]
        if not common:
            raise InputError(
                f"no grader has judged all of them with the same instruments ({_listed(self._blocks)})",
                way_out=_regrade(self._runs, missing),
            )
        return common, [LeftOut(*block, tuple(names)) for block, names in missing.items() if names]

    def _block(self, block: Block, arrays: Mapping[str, BlockArrays]) -> ComparedBlock:
        grader, instruments = block
        figures = compared_figures(arrays, self._bootstrap, baseline=self._baseline, threshold=self._analysis.threshold)
        related = tuple(same_family(run.subject, grader) for run in self._runs.values())
        names, sides = list(self._runs), arrays[self._baseline].sides
        return ComparedBlock(
            grader=grader,
            instruments=instruments,
            first=sides.first,
            second=sides.second,
            same_family=related,
            figures=figures,
            remarks=tuple(remarks_of_block(names, related, figures, len(self._shared.pairs))),
        )

    def _same_texts(self) -> list[str]:
        """Return the configurations whose responses to the shared pairs are the baseline's to the letter."""
        known = {pair.pair_id for pair in self._shared.pairs}
        texts = {
            name: {
                (response.pair.pair_id, response.letter): response.text
                for response in run.responses
                if response.pair.pair_id in known
            }
            for name, run in self._runs.items()
        }
        return [name for name, each in texts.items() if name != self._baseline and each == texts[self._baseline]]


def blocks_of(run: SavedRun) -> dict[Block, Graded]:
    """Return what each grader of a run said with each set of instruments."""
    sets = {instruments.name: instruments for instruments in run.sets}
    found = dict.fromkeys((judgment.grader, judgment.instruments) for judgment in run.judgments)
    return {
        (grader, instruments): Graded(
            grader,
            sets[instruments],
            [one for one in run.judgments if (one.grader, one.instruments) == (grader, instruments)],
        )
        for grader, instruments in found
    }


def rank_agreement(figures: Mapping[Block, Sequence[ComparedFigure]]) -> Iterator[RankAgreement]:
    """Yield how far every two graders put the configurations into one order, a measure after another."""
    names = block_names(list(figures))
    by_block = {names[block]: rates(found) for block, found in figures.items()}
    for one, other in combinations(by_block, 2):
        for measure, values in by_block[one].items():
            if measure not in by_block[other] or len(values) < FEWEST:
                continue
            rho, tau = (order(values, by_block[other][measure]) for order in (spearman, kendall))
            yield RankAgreement(measure, one, other, rho.n, rho.value, rho.p, tau.value, tau.p, rho.method)


def _names(runs: Sequence[SavedRun], names: Sequence[str] | None) -> list[str]:
    """Return a name for each configuration: what its run calls it, with its folder where several are called so."""
    if names is not None:
        if len(names) != len(runs) or len(set(names)) != len(names):
            raise InputError(f"{len(set(names))} names for {len(runs)} runs", way_out="name each run once")
        return list(names)
    own = [run.configuration for run in runs]
    told = [
        name if own.count(name) == 1 else f"{name} ({run.folder.name})" for name, run in zip(own, runs, strict=True)
    ]
    return [
        name if told.count(name) == 1 else f"{name} #{told[: place + 1].count(name)}" for place, name in enumerate(told)
    ]


def _listed(blocks: Mapping[str, Mapping[Block, Graded]]) -> str:
    return "; ".join(
        f"{name}: {', '.join(f'{grader} with {instruments}' for grader, instruments in each) or 'none'}"
        for name, each in blocks.items()
    )


def _regrade(runs: Mapping[str, SavedRun], missing: Mapping[Block, Sequence[str]]) -> str:
    """Return the commands that would give the runs a grader in common."""
    if not missing:
        return "grade them with `evenhand regrade RUN --grader MODEL`"
    (grader, instruments), lacking = min(missing.items(), key=lambda item: len(item[1]))
    asked = "" if is_fitted(grader) else f" --instruments {instruments}"
    commands = [f"`evenhand regrade {runs[name].folder} --grader {grader}{asked}`" for name in lacking]
    return f"give them one in common, with {' and '.join(commands)}"
