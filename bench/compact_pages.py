"""The page that ``bench.compact_wordings`` writes."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from evenhand.statistics import Estimate


class TriedWording(Protocol):
    """What one wording came to on one sample."""

    @property
    def wording(self) -> str: ...  # noqa: D102
    @property
    def gold(self) -> str: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def characters(self) -> int: ...  # noqa: D102
    @property
    def auc(self) -> Estimate: ...  # noqa: D102
    @property
    def gain(self) -> Estimate | None: ...  # noqa: D102
    @property
    def accuracy(self) -> float: ...  # noqa: D102
    @property
    def captured(self) -> float | None: ...  # noqa: D102


def compact_page(
    tried: Sequence[TriedWording], left: Sequence[str], grader: str, sizes: Mapping[str, int], remarks: str
) -> str:
    """Return docs/validation/compact.md."""
    parts = [
        "# What was tried for the compact instruments\n",
        "Made by `python -m bench.compact_wordings page GOLD_FOLDER REPLIES_FOLDER`; not edited by hand. Every wording"
        f" was put to `{grader}` on answers drawn from the fitting halves alone"
        f" ({', '.join(f'{name} {size}' for name, size in sizes.items())}; as many positive as negative, and of either"
        " as many of each model as there are). AUC: chance that a positive answer gets a higher probability than a"
        " negative one. Gain: that area less the one of the first wording in the table, on the same answers, with the"
        " interval of the paired difference. Right: share of right verdicts at the threshold 0.5; a threshold can be"
        " calibrated, an order can't. Shown: mean characters of an answer that the grader is shown, which is what a"
        " question costs. 95% intervals over prompts or issues. The wordings are in `bench/compact_examples.py`.\n\n"
        "What was tried for the fitted graders is in [experiments.md](experiments.md); what the wordings that were"
        " chosen are worth on the testing halves is in [models.md](models.md).\n",
        remarks,
    ]
    for gold in dict.fromkeys(one.gold for one in tried):
        parts.append(f"\n## {gold}\n")
        parts.append("| wording | n | AUC | gain | right | captured | shown |")
        parts.append("| --- | --- | --- | --- | --- | --- | --- |")
        parts += [
            f"| {one.wording} | {one.n} | {_figure(one.auc)} | {_figure(one.gain)} | {one.accuracy:.2f} |"
            f" {'-' if one.captured is None else f'{one.captured:.2f}'} | {one.characters} |"
            for one in tried
            if one.gold == gold
        ]
    if left:
        parts.append("\n## Written and not asked yet\n")
        parts += [f"* {one}" for one in left]
    return "\n".join(parts) + "\n"


def _figure(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
