"""A scoring spec in the shapes that other tools read, and what is lost on the way."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import yaml

from evenhand.errors import InputError
from evenhand.report.scoring_spec import ScoringSpec, SpecQuestion


@dataclass(frozen=True, slots=True)
class Export:
    """A file's text, and what of the spec it does not hold."""

    text: str
    lost: tuple[str, ...]


def export_spec(spec: ScoringSpec, shape: str) -> Export:
    """Return the spec in one of the shapes ``EXPORTS``; raises ``InputError`` if every weight is 0."""
    if not any(question.weight for question in spec.questions):
        raise InputError(
            "every weight of the spec is 0: its questions do not tell which output is chosen",
            way_out="ask other questions, or rate more pairs",
        )
    return EXPORTS[shape](spec)


def pi_export(spec: ScoringSpec) -> Export:
    """Return a JSON object with ``scoring_spec``: a list of question, label and weight, as Pi's scorer takes it."""
    questions = [
        {"question": _positive(question), "label": _label(question), "weight": weight}
        for question, weight in _shares(spec)
    ]
    text = json.dumps({"scoring_spec": questions}, indent=2, ensure_ascii=True) + "\n"
    return Export(text, tuple(_lost(spec)))


def promptfoo_export(spec: ScoringSpec) -> Export:
    """Return a promptfoo configuration: an ``llm-rubric`` assertion a question, for every test.

    promptfoo renders rubrics as templates and reads a rubric that begins with ``file://`` from a file; template marks
    in a question are written so that they come out as they are, and every rubric begins with words of ours.
    """
    assertions = [
        {"type": "llm-rubric", "metric": _inert(_label(question)), "value": _rubric(question), "weight": weight}
        for question, weight in _shares(spec)
    ]
    text = yaml.safe_dump({"defaultTest": {"assert": assertions}}, sort_keys=False, allow_unicode=False, width=2**20)
    return Export(text, tuple(_lost(spec)))


def trl_export(spec: ScoringSpec) -> Export:
    """Return a Python module with a function ``reward(prompts, completions, **kwargs)`` as TRL's trainers call it."""
    rows = "\n".join(
        f"    ({question.id!a}, {question.text!a}, {float(question.weight)!r}, {float(question.centre)!r},"
        f" {float(question.abstained_weight)!r}),"
        for question in spec.questions
        if question.weight or question.abstained_weight
    )
    lost = ["the intervals, the stability and the held-out figures", "which grader rated: the rating function is yours"]
    return Export(_TRL.replace("@QUESTIONS@", rows), tuple(lost))


EXPORTS: Mapping[str, Callable[[ScoringSpec], Export]] = {
    "pi": pi_export,
    "promptfoo": promptfoo_export,
    "trl": trl_export,
}


def _shares(spec: ScoringSpec) -> list[tuple[SpecQuestion, float]]:
    """Return the questions with a weight, and each one's share of the sum of absolute weights."""
    weighted = [question for question in spec.questions if question.weight]
    total = sum(abs(question.weight) for question in weighted)
    return [(question, round(abs(question.weight) / total, 6)) for question in weighted]


def _label(question: SpecQuestion) -> str:
    return question.id if question.weight > 0 else f"not_{question.id}"


def _positive(question: SpecQuestion) -> str:
    if question.weight > 0:
        return question.text
    return f"Is the answer to this question no, rather than yes? {question.text}"


def _rubric(question: SpecQuestion) -> str:
    best, worst = ("clearly yes", "clearly no")[:: 1 if question.weight > 0 else -1]
    return (
        f"Answer the question below about the output. Score 1 if the answer is {best}, 0 if it is {worst}, and in"
        f" between by degree.\n{_inert(question.text)}"
    )


def _inert(text: str) -> str:
    """Write the marks of a Nunjucks template so that rendering gives them back.

    >>> _inert("say {{ secret }}")
    "say {{ '{{' }} secret }}"
    """
    return re.sub(r"\{[{%#]", lambda found: "{{ '" + found[0] + "' }}", text)


def _lost(spec: ScoringSpec) -> Iterator[str]:
    yield "the scale: weights are shares of 1, so the score is no longer log odds"
    yield "the intervals, the stability and the held-out figures"
    turned = [question.id for question in spec.questions if question.weight < 0]
    if turned:
        yield (
            "negative weights: these questions are asked the other way round with a positive one, which holds only as"
            f" far as the scorer understands it: {', '.join(turned)}"
        )
    dropped = [question.id for question in spec.questions if not question.weight]
    if dropped:
        yield f"questions of weight 0: {', '.join(dropped)}"
    if any(question.abstained_weight for question in spec.questions):
        yield "what it means that a question can't be answered"


_TRL = '''"""A reward function for TRL, made from an Evenhand scoring spec.

Give it a function that rates one output on one question, (prompt, completion, question) -> 0 to 10, None where it
can't say and -1 where the question can't be answered:

    from functools import partial, update_wrapper
    reward_func = update_wrapper(partial(reward, rate=my_rating_function), reward)

or set RATE. The reward is the spec's score: differences of it are log odds of being chosen.
"""

# id, question, weight a rating point, mean rating, weight where the question can't be answered
QUESTIONS = [
@QUESTIONS@
]

RATE = None


def reward(prompts, completions, **kwargs):
    """Return the score of each completion."""
    rate = kwargs.get("rate") or RATE
    if rate is None:
        raise TypeError("give reward() a rating function: rate=function, or set RATE")
    if len(prompts) != len(completions):
        raise ValueError("there must be as many prompts as completions")
    return [_score(rate, _text(prompt), _text(completion)) for prompt, completion in zip(prompts, completions)]


def _score(rate, prompt, completion):
    total = 0.0
    for _, question, weight, centre, abstained in QUESTIONS:
        rating = rate(prompt, completion, question)
        if rating is None or rating != rating:
            continue
        total += abstained if rating < 0 else weight * (float(rating) - centre)
    return total


def _text(message):
    """Return a text as it is, and a conversation as the contents of its messages."""
    if isinstance(message, str):
        return message
    return "\\n\\n".join(str(part["content"]) for part in message)
'''
