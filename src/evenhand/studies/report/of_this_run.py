"""Whether figures that lie in a run folder are of the run that lies there now."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import sha256_of_file
from evenhand.report import Analysis
from evenhand.report.corrected_summary import CorrectedSummary
from evenhand.report.effects_summary import EffectsSummary
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.studies.made_from import other_files


@dataclass(frozen=True, slots=True)
class Origin:
    """Whether figures may be shown beside a run, and what must be said."""

    shown: bool = True
    remark: str = ""


def origin_of_effects(effects: EffectsSummary, there: Mapping[str, str], folder: Path) -> Origin:
    """Return what is to be said of ``effects.json``; raises ``InputError`` where it is of other ratings.

    ``there`` are the hashes of the files that lie in the folder.
    """
    others = other_files(effects.made_from, there)
    if others:
        raise InputError(
            f"was made from other {others} than lie in the folder now",
            source=str(folder / "effects.json"),
            way_out=f"work it out anew: evenhand effects {folder}",
        )
    return Origin() if others is not None else Origin(remark=_unknown("effects.json", f"evenhand effects {folder}"))


def origin_of_spec(spec: ScoringSpec, there: Mapping[str, str], folder: Path) -> Origin:
    """Return whether ``spec.json`` was fitted to the files that lie in the folder."""
    others = other_files(spec.provenance, there)
    again = f"evenhand fit {folder}"
    if others is None:
        return Origin(remark=_unknown("spec.json", again))
    if not others:
        return Origin()
    return Origin(
        shown=False,
        remark=f"the scoring spec (spec.json) is left out: it was fitted to other {others} than lie in the folder now;"
        f" `{again}` fits it anew",
    )


def origin_of_correction(corrected: CorrectedSummary, analysis: Analysis, folder: Path) -> Origin:
    """Return whether ``corrected.json`` is of the judgments that lie in the folder, read as its summary reads them."""
    again = f"evenhand summarize {folder} --labels {corrected.labels}"
    differences = tuple(_differences(corrected, analysis, folder))
    if differences:
        return Origin(
            shown=False,
            remark=f"the shares corrected by people's labels (corrected.json) are left out: they were made with"
            f" {'; '.join(differences)}; `{again}` makes them anew",
        )
    known = corrected.analysis is not None and corrected.judgments_sha256
    return Origin() if known else Origin(remark=_unknown("corrected.json", again))


def _differences(corrected: CorrectedSummary, analysis: Analysis, folder: Path) -> Iterator[str]:
    if corrected.judgments_sha256 and corrected.judgments_sha256 != sha256_of_file(folder / "judgments.parquet"):
        yield "other judgments than lie in the folder now"
    if corrected.threshold != analysis.threshold:
        yield f"the threshold {corrected.threshold:g} and not {analysis.threshold:g}"
    if corrected.analysis is None:
        return
    for field in fields(Analysis):
        if field.name != "threshold" and getattr(corrected.analysis, field.name) != getattr(analysis, field.name):
            yield f"another setting of {field.name}"


def _unknown(name: str, again: str) -> str:
    return (
        f"what {name} was made from is not recorded (an earlier version wrote it), so that it may not be of this run;"
        f" `{again}` makes it anew"
    )
