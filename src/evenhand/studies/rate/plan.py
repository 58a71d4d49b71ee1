"""What a rating run is asked to do."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.execution.cluster import Cluster
from evenhand.graders.rating import RatingManner
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments.rating import Protocol
from evenhand.pairs.preferences import Columns


@dataclass(frozen=True, slots=True)
class RatePlan:
    """What to rate, by whom and how."""

    pairs: str
    questions: str
    """``builtin``, ``builtin:TAG,TAG`` or the path of a file."""
    graders: tuple[str, ...]
    out: Path
    format: str | None = None
    columns: Columns | None = None
    """The columns of data in no known format."""
    instrument: str = "rating"
    """``rating``, ``compact`` or the path of a prompt file."""
    protocol: str = "blind"
    sample: int | None = None
    """Rate this many pairs, drawn by the seed; None rates all."""
    leak_sample: int = 25
    """Pairs that are also rated labelled and with exchanged labels, to measure the leak; 0 for none."""
    seed: int = 0
    reading: str = "probabilities"
    """``probabilities``, ``text`` or ``samples:N``."""
    reasons: bool = False
    max_cost: float | None = None
    """US dollars that this run may cost; None is no limit."""
    models: Path | None = None
    """A file with settings of models."""
    cluster: Cluster | None = None
    """The machines to rate on; None is this one alone."""

    def __post_init__(self) -> None:
        """Check what can be checked before anything is read."""
        if not self.graders:
            raise InputError("none was named", field="--grader", way_out="name at least one")
        if self.max_cost is not None and self.max_cost < 0:
            raise InputError(f"is {self.max_cost:g}", field="--max-cost", way_out="give 0 or more US dollars")
        if self.cluster and self.max_cost is not None:
            raise InputError(
                "can't be kept by several workers",
                field="--max-cost",
                way_out="leave it away and see with --dry-run what the run will cost, or use one machine",
            )
        allowed = [protocol.value for protocol in Protocol if protocol is not Protocol.LABEL_SWAP]
        if self.protocol not in allowed:
            raise InputError(f"is {self.protocol!r}", field="--protocol", way_out=f"use {', '.join(allowed)}")
        for name, value in (("--sample", self.sample), ("--leak-sample", self.leak_sample)):
            if value is not None and value < (name == "--sample"):
                raise InputError(f"is {value}", field=name, way_out="give a larger number")
        if self.instrument == "compact" and self.reading != "probabilities":
            raise InputError(
                "the compact instrument is read from probabilities alone",
                field="--reading",
                way_out="leave --reading away, or use --instrument rating",
            )
        if self.instrument == "compact" and self.reasons:
            raise InputError(
                "the compact instrument has no reasons", field="--reasons", way_out="use --instrument rating"
            )
        self.manner  # noqa: B018  (says what is wrong with the reading)

    @property
    def manner(self) -> RatingManner:
        """How ratings are asked for and read."""
        mode = reading_mode(self.reading)
        return RatingManner(mode.probabilities, mode.samples, reasons=self.reasons, seed=self.seed)
