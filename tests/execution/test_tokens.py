"""Estimates of prompt tokens, against what a real tokenizer makes of the texts."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from evenhand.execution.tokens import MARGIN, estimate_text, estimate_tokens, most_tokens
from evenhand.instruments import Message, Request, builtin_instruments, rating
from evenhand.pairs.builtin import builtin_pairs

SCRIPTS = {
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren, möchten aber verschieden heißen. ",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. ",
    "russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. ",
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. ",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। ",
    "thai": "มนุษย์ทั้งปวงเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ",
    "chinese": "人人生而自由，在尊严和权利上一律平等。",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. ",
    "emoji": "👩🏽‍🚀🏳️‍🌈🧑‍🤝‍🧑 ",
    "rare": "ﷺꙮ𒐫⸻𝔘𝔫𝔦 \u200b\u202e",
    "digits": "3.14159265358979 0xDEADBEEF ",
    "marks": "}{)(*&^%$#@!~`|\\<>?/;:'\"",
}


class Tokenizer:
    """The tokenizer and the chat template of an embedded model, which its runtime serves on the loopback interface."""

    def __init__(self, weights: Path) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.n_ctx, params.n_parallel, params.verbosity, params.warmup = 256, 1, -1, False
        params.api_keys = ["test"]
        self._server = xllamacpp.Server(params)

    def count(self, request: Request) -> int:
        text = request.prompt
        if request.messages:
            messages = [{"role": message.role, "content": message.content} for message in request.messages]
            text = self._post("/apply-template", {"messages": messages})["prompt"]
        return len(self._post("/tokenize", {"content": text, "add_special": True})["tokens"])

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": "Bearer test"}
        request = urllib.request.Request(f"{self._server.listening_address}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)


@pytest.fixture(scope="module", params=["subject_weights", "grader_weights"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return Tokenizer(request.getfixturevalue(request.param))


def chat(*texts: str) -> Request:
    return Request(messages=tuple(Message("user", text) for text in texts))


@pytest.mark.embedded
def test_no_prompt_has_more_tokens_than_the_bound(tokenizer: Tokenizer) -> None:
    requests = [
        *(chat(text * 4) for text in SCRIPTS.values()),
        *(Request(prompt=text * 4) for text in SCRIPTS.values()),
        *(chat(text) for text in SCRIPTS.values()),
        chat("a"),
        chat("a", "b", "c"),
        Request(messages=(Message("system", "Be brief."), Message("user", "Hello"), Message("assistant", "H"))),
        Request(prompt="a"),
    ]
    for request in requests:
        assert tokenizer.count(request) <= most_tokens(request), request


@pytest.mark.embedded
def test_built_in_prompts_are_estimated_within_the_margin(tokenizer: Tokenizer) -> None:
    prompts = [chat(pair.prompt_a) for pair in builtin_pairs("us")[::40]]
    instruments = [
        *(instrument.text for name in ("rubric", "compact") for instrument in builtin_instruments(name).instruments),
        *(rating.rating_instrument("rating", protocol).text for protocol in rating.Protocol),
    ]
    for requests in (prompts, [chat(text) for text in instruments]):
        real, estimated = sum(map(tokenizer.count, requests)), sum(map(estimate_tokens, requests))
        assert real / MARGIN < estimated < real * MARGIN


def test_the_bound_is_above_the_estimate_for_every_script() -> None:
    for text in SCRIPTS.values():
        request = chat(text * 50)
        assert estimate_tokens(request) < most_tokens(request)


def test_a_text_in_another_script_takes_more_tokens_a_character() -> None:
    english, russian, chinese = (estimate_text(text) / len(text) for text in ("freedom", "свобода", "自由"))
    assert english < russian < chinese


def test_half_a_surrogate_pair_can_be_estimated() -> None:
    request = chat("cut off: \ud83d")
    assert 0 < estimate_tokens(request) < most_tokens(request)


def test_what_the_model_writes_is_not_counted() -> None:
    short, long = (Request(prompt="text", max_tokens=limit) for limit in (1, 4000))
    assert estimate_tokens(short) == estimate_tokens(long)
    assert most_tokens(short) == most_tokens(long)
