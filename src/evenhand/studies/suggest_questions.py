"""Ask a model for new questions: it sees preference pairs, and isn't told which output was chosen."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import evenhand
from evenhand.errors import InputError
from evenhand.execution import Answered, Ledger, RunFolder, storable
from evenhand.execution.forecast import Forecast
from evenhand.instruments import Message, Request
from evenhand.instruments.boundary import boundary
from evenhand.instruments.near_duplicates import THRESHOLD, nearest
from evenhand.instruments.questions import Question, question_id, questions_as_toml
from evenhand.instruments.template import render
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import Failure
from evenhand.readings.suggested_questions import Unusable, read_suggested_questions
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

QUESTIONS_FILE = "questions.toml"
"""Where the questions go, to be edited."""
SUGGESTED_TAG = "suggested"

# Duplicates fall away, so more are asked for than are wanted.
_SURPLUS = 1.5


@dataclass(frozen=True, slots=True)
class SuggestPlan:
    """How to ask for new questions."""

    model: str
    out: Path
    number: int = 12
    """How many questions are wanted."""
    sample: int = 20
    """How many pairs the model sees; all of them where there are fewer."""
    seed: int = 0
    """Of the sample, of the order of the outputs and of the model's sampling."""
    temperature: float = 0.0
    max_tokens: int = 1024
    pairs_per_request: int = 5
    characters: int = 1500
    """How much of a text the model sees, from its beginning."""
    models: Path | None = None
    """A file with settings of models."""

    def __post_init__(self) -> None:
        for name in ("number", "sample", "max_tokens", "pairs_per_request", "characters"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"is {getattr(self, name)}", field=f"--{name.replace('_', '-')}", way_out="give 1 or more"
                )
        if not 0 <= self.temperature < math.inf:
            raise InputError(f"is {self.temperature:g}", field="--temperature", way_out="give 0 or more")


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair as the model sees it."""

    pair: PreferencePair
    chosen_first: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """A suggestion that asks nearly the same as another question."""

    text: str
    like: str
    """The text of the other one."""
    similarity: float
    known: bool
    """The other one was known; otherwise it was suggested before."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What became of the asking."""

    questions: tuple[Question, ...]
    dropped: tuple[Dropped, ...]
    surplus: tuple[str, ...]
    """Good for use, and more than were wanted."""
    unusable: tuple[Unusable, ...]
    failures: tuple[str, ...]
    """Requests without a reply, and why."""
    cut: int
    """Replies that ended at the token limit."""
    shown: int
    """Pairs that the model saw."""
    calls: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"questions": [question.as_json() for question in self.questions]}


def suggest_questions(
    pairs: Sequence[PreferencePair],
    known: Sequence[Question],
    plan: SuggestPlan,
    watch: StudyWatch | None = None,
    source: Mapping[str, str | None] | None = None,
) -> Suggestions:
    """Ask the model, and write ``questions.toml`` and ``suggestions.json`` to the run folder.

    Replies are kept in the folder's ledger, so a repetition calls no model. A ``questions.toml`` that somebody has
    edited is never overwritten.

    Args:
        pairs: what to draw the sample from; pairs whose outputs are the same are passed over.
        known: questions that need not be suggested again; the model is shown them.
        plan: how to ask.
        watch: told how far it is.
        source: what the record says of where the pairs came from.

    Raises ``InputError`` where no pair can be shown, where no suggestion can be used, and where the folder holds
    other questions.
    """
    watch = watch or UnwatchedStudy()
    work = _Work.prepared(pairs, known, plan, watch, (source or {}).get("name") or "")
    folder = RunFolder(plan.out)
    with Ledger(folder.ledger_path) as ledger:
        answers = work.answers(Carrier(ledger, watch))
    shown, model = work.shown, work.model
    found = _gather(answers, known, plan.number, len(shown))
    folder.write_json(
        "suggestions.json",
        _record(
            found,
            shown=shown,
            known=known,
            plan=plan,
            source=source or {},
            model=model.describe(),
            requests=len(work.requests),
        ),
    )
    if not found.questions:
        raise InputError(
            f"none of what {plan.model} answered can be used: {len(found.dropped)} near-duplicates,"
            f" {len(found.unusable)} lines that are no usable question, {len(found.failures)} requests without a reply",
            way_out=f"read {plan.out / 'suggestions.json'}; try another model, another --seed or a larger --sample",
        )
    _write_questions(plan.out / QUESTIONS_FILE, found.questions, plan)
    return found


def forecast_suggestions(
    pairs: Sequence[PreferencePair], known: Sequence[Question], plan: SuggestPlan, watch: StudyWatch | None = None
) -> Forecast:
    """Return what asking would take. No model is called, and nothing is written."""
    work = _Work.prepared(pairs, known, plan, watch or UnwatchedStudy(), "")
    with Ledger.peek(plan.out / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        work.answers(carry_out)
    return carry_out.forecast


@dataclass(frozen=True, slots=True)
class _Work:
    """What the model is to be asked."""

    shown: Sequence[Shown]
    requests: Sequence[Request]
    model: Model

    @classmethod
    def prepared(
        cls,
        pairs: Sequence[PreferencePair],
        known: Sequence[Question],
        plan: SuggestPlan,
        watch: StudyWatch,
        source: str,
    ) -> "_Work":
        shown = draw_shown(pairs, plan.sample, plan.seed)
        if not shown:
            raise InputError(
                "there is no pair whose two outputs differ",
                source=source,
                way_out="give preference pairs with two different outputs",
            )
        if len(shown) < plan.sample:
            watch.say(f"There are {len(shown)} pairs to show, not {plan.sample}: all of them are shown")
        model = open_model(plan.model, ModelRole.SUBJECT, watch, load_model_settings(plan.models))
        return cls(shown, _requests(shown, known, plan), model)

    def answers(self, carry_out: CarryOut) -> list[Answered]:
        async def ask(one: Model) -> list[Answered]:
            stage = f"{one.name} suggests questions"
            return await carry_out(stage, self.requests, one, len(self.requests), lambda answer: answer)

        (answers,) = side_by_side([self.model], ask)
        return answers


def draw_shown(pairs: Iterable[PreferencePair], size: int, seed: int) -> list[Shown]:
    """Return up to ``size`` pairs, no input twice while there are others, half of them with the chosen output first.

    The draw depends on the seed and the pairs and not on their order.
    """
    drawn = sorted(
        (pair for pair in pairs if pair.chosen != pair.rejected), key=lambda p: _lot(seed, "pair", p.pair_id)
    )
    inputs: set[str] = set()
    first: list[PreferencePair] = []
    again: list[PreferencePair] = []
    for pair in drawn:
        (again if pair.input_id in inputs else first).append(pair)
        inputs.add(pair.input_id)
    taken = (first + again)[:size]
    by_lot = sorted(taken, key=lambda pair: _lot(seed, "order", pair.pair_id))
    chosen_first = {pair.pair_id for pair in by_lot[: len(by_lot) // 2]}
    return [Shown(pair, pair.pair_id in chosen_first) for pair in taken]


def _lot(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()


def _requests(shown: Sequence[Shown], known: Sequence[Question], plan: SuggestPlan) -> list[Request]:
    count = math.ceil(len(shown) / plan.pairs_per_request)
    # Shares that differ by one at most: a last request with a single pair would see little.
    parts = [shown[len(shown) * at // count : len(shown) * (at + 1) // count] for at in range(count)]
    number = math.ceil(plan.number * _SURPLUS / count)
    return [
        Request(
            messages=(Message("user", _prompt(part, known, number, plan.characters)),),
            max_tokens=plan.max_tokens,
            temperature=plan.temperature,
            seed=plan.seed,
        )
        for part in parts
    ]


def _prompt(part: Sequence[Shown], known: Sequence[Question], number: int, characters: int) -> str:
    texts = [_shortened(text, characters) for one in part for text in _texts(one)]
    mark = boundary(*texts)
    material = "\n\n".join(
        f"{mark} EXAMPLE {at + 1}, {name} {mark}\n{texts[3 * at + place]}"
        for at in range(len(part))
        for place, name in enumerate(("INPUT", "FIRST OUTPUT", "SECOND OUTPUT"))
    )
    fields = {
        "examples": str(len(part)),
        "number": str(number),
        "known": "\n".join(f"- {question.text}" for question in known) or "- none",
        "boundary": mark,
        "material": f"{material}\n\n{mark} END {mark}",
    }
    return render(_template(), fields)


def _texts(one: Shown) -> tuple[str, str, str]:
    pair = one.pair
    outputs = (pair.chosen, pair.rejected) if one.chosen_first else (pair.rejected, pair.chosen)
    return (pair.input, *outputs)


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]} [the rest is left away]"


def _template() -> str:
    return resources.files("evenhand.instruments").joinpath("texts", "questions", "suggest.txt").read_text("utf-8")


def _gather(answers: Sequence[Answered], known: Sequence[Question], number: int, shown: int) -> Suggestions:
    replies: list[tuple[str, ...]] = []
    unusable: list[Unusable] = []
    failures: list[str] = []
    cut = 0
    for answer in answers:
        if isinstance(answer.outcome, Failure):
            failures.append(storable(f"{answer.outcome.kind}: {answer.outcome.reason}"))
            continue
        was_cut = answer.outcome.finish == "length"
        read = read_suggested_questions(answer.outcome.text, cut=was_cut, thinking=answer.outcome.thinking)
        replies.append(read.questions)
        unusable += read.unusable
        cut += was_cut
    texts: list[str] = []
    dropped: list[Dropped] = []
    known_texts = [question.text for question in known]
    for text in _in_turn(replies):
        like = nearest(text, [*known_texts, *texts])
        if like and like[1] >= THRESHOLD:
            place, alike = like
            dropped.append(Dropped(text, [*known_texts, *texts][place], round(alike, 3), place < len(known)))
        else:
            texts.append(text)
    taken = [question.id for question in known]
    questions = []
    for text in texts[:number]:
        questions.append(Question(question_id(text, taken), text, (SUGGESTED_TAG,)))
        taken.append(questions[-1].id)
    return Suggestions(
        questions=tuple(questions),
        dropped=tuple(dropped),
        surplus=tuple(texts[number:]),
        unusable=tuple(unusable),
        failures=tuple(failures),
        cut=cut,
        shown=shown,
        calls=sum(answer.called for answer in answers),
    )


def _in_turn(replies: Sequence[Sequence[str]]) -> list[str]:
    """Return the first suggestion of each reply, then the second of each: every part of the sample gets its say."""
    longest = max(map(len, replies), default=0)
    return [reply[at] for at in range(longest) for reply in replies if at < len(reply)]


def _record(
    found: Suggestions,
    *,
    shown: Sequence[Shown],
    known: Sequence[Question],
    plan: SuggestPlan,
    source: Mapping[str, str | None],
    model: Mapping[str, Any],
    requests: int,
) -> dict[str, Any]:
    return {
        "schema": 1,
        "evenhand": evenhand.__version__,
        "settings": {
            "pairs": dict(source),
            "model": dict(model),
            "number": plan.number,
            "sample": plan.sample,
            "seed": plan.seed,
            "temperature": plan.temperature,
            "max_tokens": plan.max_tokens,
            "pairs_per_request": plan.pairs_per_request,
            "characters": plan.characters,
            "near_duplicate_from": THRESHOLD,
            "prompt_sha256": hashlib.sha256(_template().encode("utf-8")).hexdigest(),
            "known": [question.as_json() for question in known],
        },
        "shown": [{"pair_id": storable(one.pair.pair_id), "chosen_first": one.chosen_first} for one in shown],
        "requests": requests,
        "questions": [question.as_json() for question in found.questions],
        "dropped": [asdict(one) for one in found.dropped],
        "surplus": list(found.surplus),
        "unusable": [asdict(one) for one in found.unusable],
        "failures": list(found.failures),
        "cut": found.cut,
    }


def _write_questions(path: Path, questions: Sequence[Question], plan: SuggestPlan) -> None:
    text = questions_as_toml(
        questions,
        f"Suggested by {' '.join(plan.model.split())}, which was not told which outputs were chosen.\n"
        "Edit, remove or add questions as you see fit, then give this file to --questions. Where one way is thought\n"
        'better, say so: direction = "higher" or "lower".',
    )
    if path.exists():
        if path.read_bytes() == text.encode("utf-8"):
            return
        raise InputError(
            "was edited, or holds other suggestions, and is left as it is",
            source=str(path),
            way_out="move the file away and give the same command again (its replies are kept), or give another --out",
        )
    part = path.with_suffix(".part")
    part.write_text(text, "utf-8", newline="\n")
    part.replace(path)
