"""PandaLM: two responses to an instruction, with the votes of three people: 0 tie, 1 or 2."""

from collections import Counter
from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import Preference, Winner, by_code
from evenhand.pairs.preferences.row import Comparison, Row, joined

_VOTERS = ("annotator1", "annotator2", "annotator3")
_CODES: dict[float, Winner] = {0: "tie", 1: "a", 2: "b"}


def read(row: Row) -> Iterator[Comparison]:
    """Read a row.

    What most people said counts; three different votes are a tie. The strength is the votes for the winner less those
    for the loser.
    """
    votes = Counter(by_code(row.value(name), name, _CODES).winner for name in _VOTERS)
    (winner, most), *others = votes.most_common()
    if others and others[0][1] == most:
        winner = "tie"
    by = Preference(winner)
    if winner != "tie":
        by = Preference(winner, float(most - votes["b" if winner == "a" else "a"]))
    prompt = joined((row.text("instruction"), row.optional_text("input")))
    yield Comparison(prompt, row.text("response1"), row.text("response2"), by)


FORMAT = Format("pandalm", "PandaLM", (("instruction", "response1", "response2", *_VOTERS),), read)
