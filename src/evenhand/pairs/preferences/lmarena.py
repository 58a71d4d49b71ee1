"""LMArena: two conversations, or a prompt and two responses, with the winner as a word or as one column of three."""

from collections.abc import Iterator

from evenhand.pairs.preferences.conversation import Turn, strings_of
from evenhand.pairs.preferences.format import Format, Sample, first_value
from evenhand.pairs.preferences.preference import Preference, Winner, by_name, number_of, unknown
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError
from evenhand.pairs.preferences.row import Comparison, Row, compare, text_of

_ONE_HOT: dict[str, Winner] = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "tie"}
_TRUE = {"1", "1.0", "true"}
_FALSE = {"0", "0.0", "false", ""}


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; a response to several prompts is a list with one text a turn."""
    by = _preference(row)
    if "conversation_a" in row.values:
        yield compare(None, row.side("conversation_a"), row.side("conversation_b"), by)
        return
    prompts, *sides = (strings_of(row.value(name)) for name in ("prompt", "response_a", "response_b"))
    if prompts and all(side and len(side) == len(prompts) for side in sides):
        a, b = (_turns(prompts, side or []) for side in sides)
        yield compare(None, a, b, by)
    else:
        yield compare(row.side("prompt"), row.side("response_a"), row.side("response_b"), by)


def _turns(prompts: list[str | None], responses: list[str | None]) -> list[Turn]:
    turns: list[Turn] = []
    for prompt, response in zip(prompts, responses, strict=True):
        turns += [Turn("H", text_of(prompt, "a turn of prompt")), Turn("A", text_of(response, "a turn of a response"))]
    return turns


def _preference(row: Row) -> Preference:
    if "winner" in row.values:
        winner = row.value("winner")
        models: dict[str, Winner] = {}
        a, b = row.values.get("model_a"), row.values.get("model_b")
        if isinstance(a, str) and isinstance(b, str) and a != b:
            models = {a: "a", b: "b"}
        by = by_name(winner, models)
        if by is None:
            raise unknown(winner, "winner", "model_a, model_b, tie, tie (bothbad), both_bad")
        return by
    marked = [winner for name, winner in _ONE_HOT.items() if _flag(row, name)]
    if len(marked) != 1:
        raise RowFaultError(
            ProblemKind.UNKNOWN_PREFERENCE, f"{len(marked)} of {', '.join(_ONE_HOT)} are set where one should be"
        )
    return Preference(marked[0])


def _flag(row: Row, name: str) -> bool:
    if name == "winner_tie" and name not in row.values:
        return False
    value = row.value(name)
    text = str(value).strip().lower() if isinstance(value, bool | str) or number_of(value) is not None else None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise unknown(value, name, "0, 1")


def _also(sample: Sample) -> str:
    winner = first_value(sample, "winner")
    if winner is None:
        return "one column a winner"
    names = {value for row in sample for key in ("model_a", "model_b") if isinstance(value := row.get(key), str)}
    if by_name(winner) or winner in names:
        return f"winner is {winner!r}"
    return ""


_PLAIN = ("prompt", "response_a", "response_b")
FORMAT = Format(
    "lmarena",
    "LMArena (also Chatbot Arena and its competition files)",
    (
        ("conversation_a", "conversation_b", "winner"),
        ("conversation_a", "conversation_b", "winner_model_a", "winner_model_b"),
        (*_PLAIN, "winner_model_a", "winner_model_b"),
        (*_PLAIN, "winner"),
    ),
    read,
    _also,
)
