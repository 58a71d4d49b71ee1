"""RewardBench 2: lists of chosen and of rejected outputs for a prompt."""

from collections.abc import Iterator

from evenhand.pairs.preferences.conversation import shown, strings_of
from evenhand.pairs.preferences.format import Format, Sample, first_value
from evenhand.pairs.preferences.preference import Preference
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError
from evenhand.pairs.preferences.row import Comparison, Row, text_of


def read(row: Row) -> Iterator[Comparison]:
    """Read a row, as many pairs as the longer of its lists is long.

    The n-th pair takes the n-th of each list; the shorter list begins again at its end. So every output is in a pair,
    and no output is in more pairs than it must be.
    """
    prompt = row.text("prompt")
    lists: list[list[str]] = []
    for name in ("chosen", "rejected"):
        value = row.value(name)
        found = strings_of(value)
        if found is None:
            raise RowFaultError(ProblemKind.WRONG_TYPE, f"{name} is {shown(value)} where a list of texts should be")
        lists.append([text_of(text, name) for text in found])
    chosen, rejected = lists
    for index in range(max(map(len, lists))):
        yield Comparison(prompt, chosen[index % len(chosen)], rejected[index % len(rejected)], Preference("a"))


def _also(sample: Sample) -> str:
    if all(strings_of(first_value(sample, name)) for name in ("chosen", "rejected")):
        return "both hold lists of texts"
    return ""


FORMAT = Format("rewardbench2", "RewardBench 2", (("prompt", "chosen", "rejected"),), read, _also)
