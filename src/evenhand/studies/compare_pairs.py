"""Which pairs several runs share."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.pairs import PairedPrompt
from evenhand.studies.audit.saved_run import SavedRun


@dataclass(frozen=True, slots=True)
class SharedPairs:
    """The pairs that all runs have with the same content."""

    pairs: tuple[PairedPrompt, ...]
    """In the order of the baseline's run."""
    beyond: tuple[int, ...]
    """How many each run has that not all share, in the order of the runs."""
    changed: tuple[int, ...]
    """How many of those have the id of a pair of the baseline's and another content."""


def shared_pairs(runs: Sequence[SavedRun], baseline: int) -> SharedPairs:
    """Return the pairs that all runs share.

    Args:
        runs: what is compared.
        baseline: the place of the run whose order of pairs is kept.

    Raises:
        InputError: where they share none.
    """
    contents = [{pair.pair_id: content(pair) for pair in run.pairs} for run in runs]
    own = contents[baseline]
    shared = tuple(
        pair for pair in runs[baseline].pairs if all(known.get(pair.pair_id) == own[pair.pair_id] for known in contents)
    )
    changed = tuple(sum(own.get(name, known[name]) != known[name] for name in known) for known in contents)
    if not shared:
        sets = " and ".join(
            dict.fromkeys(f"{run.settings['pairs'].get('name', 'pairs')} ({len(run.pairs)})" for run in runs)
        )
        why = f"; {max(changed)} have the same id and another content" if any(changed) else ""
        raise InputError(
            f"the runs share no paired prompt: theirs are of {sets}{why}",
            way_out="compare runs over the same set, with the same --sample and --seed where there is a sample",
        )
    return SharedPairs(shared, tuple(len(run.pairs) - len(shared) for run in runs), changed)


def content(pair: PairedPrompt) -> tuple[str, ...]:
    """Return what makes a pair the same in two runs: what a subject and a grader see, its sides and its clusters."""
    return (
        pair.prompt_a,
        pair.prompt_b,
        pair.group_a,
        pair.group_b,
        pair.side_a,
        pair.side_b,
        pair.stance_id,
        pair.topic,
    )
