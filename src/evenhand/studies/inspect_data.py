"""Look at preference data before anything is spent on them: what they are, and what is wrong with them."""

from evenhand.errors import InputError
from evenhand.pairs.preference_audit import DEFAULT_MAX_CHARACTERS, LengthChoice, audit_preferences
from evenhand.pairs.preferences import Columns
from evenhand.report.data_audit_table import DataAudit
from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.studies.preference_source import open_preferences

_DRAWS = 2_000
_FEWEST_DRAWS = 200
_DRAWN_AT_ONCE = 40_000_000  # Resampled clusters that are held at a time; 8 bytes each.


def inspect_data(
    name: str,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    max_characters: int = DEFAULT_MAX_CHARACTERS,
    seed: int = 0,
) -> DataAudit:
    """Read preference pairs and count what is wrong with them; see ``open_preferences`` for the arguments."""
    if max_characters < 1:
        raise InputError(f"is {max_characters}", field="--max-characters", way_out="give a number above 0")
    stream = open_preferences(name, format=format, columns=columns)
    counts = audit_preferences(stream.outcomes, max_characters=max_characters)
    share = share_of_longer_chosen(counts.length_choices, seed=seed)
    return DataAudit(stream.source, stream.format, stream.reason, counts, share)


def share_of_longer_chosen(choices: tuple[LengthChoice, ...], *, seed: int) -> Estimate:
    """Return the share of pairs in which the longer output was chosen, with an interval that resamples inputs."""
    if not choices:
        return Estimate.missing("no pair has a winner and outputs of unequal length")
    clusters = [choice.input_id for choice in choices]
    draws = min(_DRAWS, max(_FEWEST_DRAWS, _DRAWN_AT_ONCE // len(set(clusters))))
    bootstrap = ClusterBootstrap(clusters, seed=seed, draws=draws)
    return bootstrap.mean([float(choice.longer_chosen) for choice in choices])
