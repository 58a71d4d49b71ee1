"""What a real vLLM server (0.32) sent, word for word but shortened, and what is made of it."""

import json
from typing import Any

import pytest
from aiohttp import web

from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ContextOverflowError, TransportError
from evenhand.readings import Reply, State, read_choice
from evenhand.readings.ratings import read_ratings
from http_loopback import ask, broken, loopback

QUESTION = Message("user", "Is ice cold?\n\n(A) no\n(B) yes\n\nAnswer with the letter in brackets.")


def refused(message: str, parameter: str, number: int) -> Any:
    error = {"message": message, "type": "BadRequestError", "param": parameter, "code": 400}
    text = json.dumps({"error": {**error, "message": f"{message} (parameter={parameter}, value={number})"}})
    return lambda body, count: broken(400, text)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 2048 tokens. However, your prompt contains at least 2049 input tokens,"
        " which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.",
        "The decoder prompt (length 2100) is longer than the maximum model length of 2048. Make sure that"
        " `max_model_len` is no smaller than the number of text tokens.",
    ],
)
def test_too_long_is_an_overflow(message: str) -> None:
    with loopback() as server:
        server.answer = refused(message, "input_tokens", 2049)
        with pytest.raises(ContextOverflowError):
            ask(server.model)


def test_more_probabilities_than_it_gives_ends_the_run_and_says_what_to_set() -> None:
    with loopback() as server:
        server.answer = refused(
            "Requested sample logprobs of 100, which is greater than max allowed: 20", "logprobs", 100
        )
        with pytest.raises(AccessError, match=r"way out: set top_logprobs .*--max-logprobs"):
            ask(server.model_with(top_logprobs=100))
        assert server.asked[0].body["top_logprobs"] == 100


def test_an_answer_longer_than_the_context_ends_the_run() -> None:
    """It would be refused for every request."""
    with loopback() as server:
        server.answer = refused(
            "max_tokens=3000 cannot be greater than max_model_len=2048. Please request fewer output tokens.",
            "max_tokens",
            3000,
        )
        with pytest.raises(AccessError, match="max_model_len=2048"):
            ask(server.model)


def token(text: str, value: float, *others: tuple[str, float]) -> dict[str, Any]:
    entries = [(text, value), *others]
    top = [{"token": each, "logprob": logprob, "bytes": list(each.encode())} for each, logprob in entries]
    return {**top[0], "top_logprobs": top}


def chat(content: str, tokens: list[dict[str, Any]], finish: str = "stop", reasoning: str | None = None) -> Any:
    nothing = {"refusal": None, "annotations": None, "audio": None, "function_call": None}
    message = {"role": "assistant", "content": content, "reasoning": reasoning, **nothing}
    choice = {"index": 0, "message": message, "logprobs": {"content": tokens}, "finish_reason": finish}
    choice |= {"stop_reason": None, "token_ids": None, "routed_experts": None}
    details = {"cached_tokens": 48, "created_cache_tokens": None, "multimodal_tokens": None}
    usage = {"prompt_tokens": 54, "total_tokens": 59, "completion_tokens": 5, "prompt_tokens_details": details}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "model": "smollm2", "choices": [choice], "usage": usage}
    return lambda body, count: web.json_response({**answer, "prompt_logprobs": None, "kv_transfer_params": None})


def asked(answer: Any, request: Request, **settings: Any) -> Reply:
    with loopback() as server:
        server.answer = answer
        return ask(server.model_with(**settings), request)


def test_a_letter_in_brackets() -> None:
    tokens = [
        token("(", -1.1594, ("A", -2.3497), ("B", -3.0241)),
        token("A", -0.3857, ("B", -1.2014)),
        token(")", -0.0021),
        token(" no", -0.3),
        token("<|im_end|>", -0.8),
    ]
    request = Request(messages=(QUESTION,), max_tokens=6, top_logprobs=20)
    reply = asked(chat("(A) no", tokens), request)
    assert (reply.text, reply.prompt_tokens, reply.cached_tokens) == ("(A) no", 54, 48)
    reading = read_choice(reply, "AB")
    assert reading.state is State.OK
    # What fell on a letter behind the bracket counts, since the reply opened one.
    assert reading.captured == pytest.approx(0.307 + 0.144, abs=0.005)
    assert reading.probabilities[0] == pytest.approx(0.678, abs=0.01)


@pytest.mark.parametrize("reported", [True, False])
def test_thinking_whether_a_reasoning_parser_runs_or_not(reported: bool) -> None:
    parts = ["<", "t", "h", "ink", ">", "\n", "A", " ", "or", " ", "B", "?", "</", "think", ">", "\n\n"]
    tokens = [*(token(part, -0.1) for part in parts), token("(", 0.0), token("A", -0.5, ("B", -1.55), ("C", -1.64))]
    tokens += [token(")", 0.0), token("<|im_end|>", 0.0)]
    content = "(A)" if reported else "<think>\nA or B?</think>\n\n(A)"
    request = Request(messages=(QUESTION,), max_tokens=40, top_logprobs=20)
    reply = asked(chat(content, tokens, reasoning="\nA or B?" if reported else None), request, thinking_tokens=40)
    assert (reply.text, reply.thinking) == ("(A)", "A or B?")
    assert [place.token for place in reply.positions][:2] == ["(", "A"]
    assert read_choice(reply, "ABC").probabilities == pytest.approx((0.608, 0.213, 0.195), abs=0.01)


def test_a_stop_text_is_among_the_tokens_and_not_in_the_text() -> None:
    begun = '{"rating":'
    tokens = [
        token(" ", -0.62, (' "', -1.1053)),
        token("1", -1.2, ("7", -1.3), ("8", -1.4)),
        token(".", -0.7),
        token("0", -0.9),
        token("}", -0.2),
    ]
    turns = (Message("user", "How good?"), Message("assistant", begun))
    request = Request(messages=turns, max_tokens=40, top_logprobs=20, stop=('"reason"', "}"))
    with loopback() as server:
        server.answer = chat(" 1.0", tokens)
        reply = ask(server.model_with(prefill="continue"), request)
        sent = server.asked[0].body
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    (reading,) = read_ratings(reply, ("rating",), prefill=begun)
    assert reading.state is State.OK
    assert reading.captured == pytest.approx(0.301 + 0.273 + 0.247, abs=0.005)


def test_a_bare_text_whose_next_tokens_are_parts_of_characters() -> None:
    """Several tokens have no text of their own there, and the server's object keeps one of them."""
    logprobs = {
        "text_offset": [0, 0],
        "token_logprobs": [-0.8380472660064697, -0.10121246427297592],
        "tokens": ["", ""],
        "top_logprobs": [{"": -4.357456207275391, "\n": -1.5475409030914307}, {"": -4.690529823303223}],
    }
    choice = {"index": 0, "text": "", "logprobs": logprobs, "finish_reason": "length", "prompt_logprobs": None}
    usage = {"prompt_tokens": 15, "total_tokens": 17, "completion_tokens": 2, "prompt_tokens_details": None}
    body = {"object": "text_completion", "model": "smollm2", "choices": [choice], "usage": usage}
    reply = asked(lambda sent, count: web.json_response(body), Request(prompt="Party:", max_tokens=2, top_logprobs=4))
    assert (reply.text, reply.completion_tokens, reply.cached_tokens) == ("", 2, 0)
    assert [place.logprob for place in reply.positions] == [-0.8380472660064697, -0.10121246427297592]
    assert read_choice(reply, ("Yes", "No")).state is State.TRUNCATED


def test_a_name_that_it_does_not_serve() -> None:
    text = '{"error":{"message":"The model `nobody` does not exist. Valid aliases: smollm2.","type":"NotFoundError"}}'
    with loopback() as server:
        server.answer = lambda body, count: broken(404, text)
        with pytest.raises(AccessError, match="Valid aliases: smollm2"):
            ask(server.model)


def test_an_engine_that_is_down_may_come_back() -> None:
    with loopback() as server:
        server.answer = lambda body, count: broken(500, '{"error":{"message":"EngineCore encountered an issue."}}')
        with pytest.raises(TransportError) as caught:
            ask(server.model)
        assert caught.value.passing
