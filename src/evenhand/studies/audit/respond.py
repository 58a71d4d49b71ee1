"""The subject's side of an audit: its requests, and its responses, whether asked for or provided."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.execution import Answered
from evenhand.instruments import Message, Request
from evenhand.models import Model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Failure, FailureKind, Reply
from evenhand.studies.audit.response import Response
from evenhand.studies.carrier import CarryOut

LETTERS: tuple[Letter, ...] = ("a", "b")
PROVIDED = "provided"
"""What the ledger's key of a response begins with that no model was asked for."""
_NOT_PROVIDED = "the file of responses has none to this prompt"


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the subject is asked."""

    max_tokens: int
    temperature: float
    seed: int


async def respond(
    pairs: Sequence[PairedPrompt], system_prompt: str, decoding: Decoding, subject: Model, carry_out: CarryOut
) -> list[Response]:
    """Return what the subject answered to both prompts of every pair."""
    asked = [(pair, letter) for pair in pairs for letter in LETTERS]

    def read(answer: Answered) -> Response:
        return Response(*asked[answer.place], answer.key, answer.outcome, answer.at)

    requests = subject_requests(pairs, system_prompt, decoding)
    return await carry_out(f"{subject.name} responds", requests, subject, len(asked), read)


def subject_requests(pairs: Sequence[PairedPrompt], system_prompt: str, decoding: Decoding) -> Iterator[Request]:
    """Yield the requests, both prompts of a pair after one another."""
    system = (Message("system", system_prompt),) if system_prompt else ()
    for pair in pairs:
        for letter in LETTERS:
            yield Request(
                messages=(*system, Message("user", pair.prompt(letter))),
                max_tokens=decoding.max_tokens,
                temperature=decoding.temperature,
                seed=decoding.seed,
            )


def provided_responses(
    pairs: Sequence[PairedPrompt], texts: Mapping[tuple[str, Letter], str], subject: str
) -> list[Response]:
    """Return responses from elsewhere; a prompt without one is a failure that says so."""
    responses = []
    for pair in pairs:
        for letter in LETTERS:
            text = texts.get((pair.pair_id, letter))
            outcome: Reply | Failure
            if text is None:
                outcome, key = Failure(FailureKind.TRANSPORT, _NOT_PROVIDED), ""
            else:
                digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
                outcome, key = Reply(text=text, finish="stop", model=subject), f"{PROVIDED}:{digest}"
            responses.append(Response(pair, letter, key, outcome, ""))
    return responses


def texts_of(responses: Sequence[Response]) -> dict[tuple[str, Letter], str]:
    """Return the texts that graders are shown, by pair and letter."""
    return {
        (response.pair.pair_id, response.letter): response.text for response in responses if response.text is not None
    }
