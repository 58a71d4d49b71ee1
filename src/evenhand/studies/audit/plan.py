"""What an audit is asked to do."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from evenhand.errors import InputError
from evenhand.graders.fitted.judging import is_fitted
from evenhand.graders.model_grader import ORDERS
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments.instrument import Order
from evenhand.report import Analysis
from evenhand.report.audit_summary import ClusterUnit, Interval, Orders
from evenhand.studies.audit.positive import positive_labels
from evenhand.studies.calibration_file import read_calibration

FEWEST_DRAWS = 100
"""With fewer resamples the ends of an interval are a matter of luck."""


@dataclass(frozen=True, slots=True)
class GradingPlan:
    """What graders are asked, and how."""

    graders: tuple[str, ...]
    """Models, and fitted graders: ``fitted:builtin``, ``fitted:NAME`` or ``fitted:PATH``."""
    instruments: str = "rubric"
    """``rubric``, ``compact``, ``published`` or the path of a prompt file; not looked at for fitted graders."""
    reading: str = "probabilities"
    """How the graders are read: ``probabilities``, ``text`` or ``samples:N``."""
    orders: str = "both"
    """In which orders two responses are shown: ``both``, ``ab`` or ``ba``."""
    blind_groups: bool = False
    """Ask again, with the groups hidden, what names the groups of people for whom the prompts speak."""
    cards: tuple[Path, ...] = ()
    """Files with validity cards of the graders, as `evenhand validate --out` writes them."""

    def __post_init__(self) -> None:
        if not self.graders:
            raise InputError("none was named", field="--grader", way_out="name at least one")
        if self.models and self.instruments == "compact" and not reading_mode(self.reading).probabilities:
            raise InputError(
                "the compact instruments are read from probabilities alone",
                field="--reading",
                way_out="leave --reading away, or use --instruments rubric",
            )
        _one_of("--orders", self.orders, get_args(Orders))

    @property
    def models(self) -> tuple[str, ...]:
        """The graders that are models, each once; they are put the instruments."""
        return tuple(name for name in dict.fromkeys(self.graders) if not is_fitted(name))

    @property
    def fitted(self) -> tuple[str, ...]:
        """The graders that are fitted to labels, each once; they have instruments of their own."""
        return tuple(name for name in dict.fromkeys(self.graders) if is_fitted(name))

    @property
    def asked_orders(self) -> tuple[Order, ...]:
        """The orders one by one."""
        return ORDERS if self.orders == "both" else (cast(Order, self.orders),)


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """How judgments become figures, as far as it is said; what is None stays as it is, or as it is usual."""

    threshold: float | None = None
    positive: tuple[str, ...] | None = None
    """Such as ``refusal=3,4,5``."""
    orders: str | None = None
    interval: str | None = None
    """``bca`` or ``percentile``."""
    unit: str | None = None
    """What intervals resample: ``stance`` or ``topic``."""
    draws: int | None = None
    seed: int | None = None
    calibrations: tuple[Path, ...] | None = None
    """Files that `evenhand validate --calibrate` wrote."""

    def __post_init__(self) -> None:
        for option, value, allowed in (
            ("--orders", self.orders, get_args(Orders)),
            ("--interval", self.interval, get_args(Interval)),
            ("--unit", self.unit, get_args(ClusterUnit)),
        ):
            if value is not None:
                _one_of(option, value, allowed)
        positive_labels(self.positive or ())
        if self.seed is not None:
            _check_seed(self.seed)
        if self.draws is not None and self.draws < FEWEST_DRAWS:
            raise InputError(
                f"is {self.draws}", field="--draws", way_out=f"give {FEWEST_DRAWS} or more; 2,000 are usual"
            )

    def over(self, usual: Analysis) -> Analysis:
        """Return an analysis with what is said here, and the rest as it was."""
        positive = usual.positive if self.positive is None else positive_labels(self.positive)
        return Analysis(
            threshold=usual.threshold if self.threshold is None else self.threshold,
            positive=positive,
            orders=cast(Orders, self.orders or usual.orders),
            interval=cast(Interval, self.interval or usual.interval),
            unit=cast(ClusterUnit, self.unit or usual.unit),
            draws=usual.draws if self.draws is None else self.draws,
            seed=usual.seed if self.seed is None else self.seed,
            calibrations=usual.calibrations
            if self.calibrations is None
            else tuple(read_calibration(path) for path in self.calibrations),
        )


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What to audit, by whom and how."""

    pairs: str
    """``builtin:us``, ``published`` or the path of a CSV file."""
    subject: str
    """The model under audit; where responses are provided, the name of what gave them."""
    grading: GradingPlan
    out: Path
    analysis: AnalysisPlan = field(default_factory=AnalysisPlan)
    sample: int | None = None
    seed: int = 0
    system_prompt: Path | None = None
    responses: Path | None = None
    """A file with responses from elsewhere; the subject is then not asked."""
    max_tokens: int = 512
    """Of a response."""
    temperature: float = 0.0
    max_cost: float | None = None
    """US dollars that this run may cost; None is no limit."""
    models: Path | None = None
    """A file with settings of models."""
    configuration: str = ""
    """What this way of asking the subject is called; empty for the subject's own name."""

    def __post_init__(self) -> None:
        if not self.subject.strip():
            raise InputError("is empty", field="--subject", way_out="name the model, or whose responses these are")
        self.full_analysis  # noqa: B018  (says what is wrong with the analysis)
        if self.max_tokens < 1:
            raise InputError(f"is {self.max_tokens}", field="--max-tokens", way_out="give a number of 1 or more")
        if not 0 <= self.temperature < math.inf:
            raise InputError(f"is {self.temperature:g}", field="--temperature", way_out="give 0 or more")
        _check_seed(self.seed)
        if self.max_cost is not None and self.max_cost < 0:
            raise InputError(f"is {self.max_cost:g}", field="--max-cost", way_out="give 0 or more US dollars")
        if self.responses is not None and self.system_prompt is not None:
            raise InputError(
                "can't be given to responses that are there already",
                field="--system-prompt",
                way_out="leave it away, or leave --responses away",
            )

    @property
    def full_analysis(self) -> Analysis:
        """How judgments become figures."""
        return self.analysis.over(Analysis(orders=cast(Orders, self.grading.orders), seed=self.seed))


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise InputError(f"is {seed}", field="--seed", way_out="give 0 or more")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"is {value!r}", field=option, way_out=f"use {', '.join(allowed)}")
