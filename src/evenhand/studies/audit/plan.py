"""What an audit is asked to do."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.graders.reading_mode import reading_mode


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What to audit, by whom and how."""

    pairs: str
    """``builtin:us``, ``published`` or the path of a CSV file."""
    subject: str
    graders: tuple[str, ...]
    instruments: str
    """``rubric``, ``compact``, ``published`` or the path of a prompt file."""
    out: Path
    sample: int | None = None
    seed: int = 0
    system_prompt: Path | None = None
    max_tokens: int = 512
    """Of a response."""
    temperature: float = 0.0
    threshold: float = 0.5
    reading: str = "probabilities"
    """How the graders are read: ``probabilities``, ``text`` or ``samples:N``."""
    draws: int = 2000

    def __post_init__(self) -> None:
        if not self.graders:
            raise InputError("none was named", field="--grader", way_out="name at least one")
        mode = reading_mode(self.reading)
        if self.instruments == "compact" and not mode.probabilities:
            raise InputError(
                "the compact instruments are read from probabilities alone",
                field="--reading",
                way_out="leave --reading away, or use --instruments rubric",
            )
        if not 0 < self.threshold < 1:
            raise InputError(f"is {self.threshold:g}", field="--threshold", way_out="give a number between 0 and 1")
        if self.max_tokens < 1:
            raise InputError(f"is {self.max_tokens}", field="--max-tokens", way_out="give a number of 1 or more")
        if self.temperature < 0:
            raise InputError(f"is {self.temperature:g}", field="--temperature", way_out="give 0 or more")
