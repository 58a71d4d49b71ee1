"""The embedded runtime's own HTTP server, a process of its own: what it says agrees with the model in this process."""

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evenhand.instruments import Message, Request
from evenhand.models import EMBEDDED_MODELS, Model, ModelRole, ModelSettings, open_model, weights_path
from evenhand.readings import Reply, State, read_choice, read_choice_text
from http_loopback import ask

pytestmark = pytest.mark.embedded

SERVER = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.verbosity = sys.argv[1], 4096, 1, -1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
if sys.argv[2]:
    params.chat_template = sys.argv[2]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(300)
"""
# A template that knows of thinking is what makes the server tell it apart.
THINKING = (
    "{% for m in messages %}{% if m.role == 'assistant' and m.reasoning_content %}"
    "{{ '<|im_start|>assistant\n<think>\n' + m.reasoning_content + '\n</think>\n\n' + m.content + '<|im_end|>\n' }}"
    "{% else %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# The model is too small to think; a grammar makes it write what one that thinks would.
THOUGHT = 'root ::= "<think>\\nIs it (A) or (B)?\\n</think>\\n\\n(" [ABC] ")"'


@contextmanager
def serving(template: str = "") -> Iterator[str]:
    """Run the server; yields the model's name."""
    weights = weights_path(EMBEDDED_MODELS["smollm2-135m"])
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights), template], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        time.sleep(0.5)
        yield f"{address}/v1#smollm2"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    with serving() as name:
        yield name


@pytest.fixture(scope="module")
def thinking() -> Iterator[str]:
    with serving(THINKING) as name:
        yield name


def ask_with(name: str, request: Request, **settings: Any) -> Reply:
    return ask(open_model(name, ModelRole.GRADER, settings={name: ModelSettings(**settings)}), request)


@pytest.fixture(scope="module")
def local() -> Iterator[Model]:
    model = open_model("smollm2-135m", ModelRole.GRADER)
    yield model
    model.close()


def agree(there: Reply, here: Reply) -> None:
    """Hold the most probable tokens of the first position against each other."""
    one, other = (dict(reply.positions[0].top) for reply in (there, here))
    assert there.positions[0].token == here.positions[0].token
    for token in list(other)[:5]:
        assert abs(math.exp(one[token]) - math.exp(other[token])) < 0.03


@pytest.mark.parametrize(
    "request_",
    [
        Request(prompt="Is the sky blue? Answer:", max_tokens=1, top_logprobs=20),
        Request(messages=(Message("user", "Answer with Yes or No: is ice cold?"),), max_tokens=4, top_logprobs=20),
    ],
)
def test_probabilities_agree(plain: str, local: Model, request_: Request) -> None:
    agree(ask_with(plain, request_), ask(local, request_))


QUESTION = Message("user", "Name the capital of France.")
BEGUN = Message("assistant", "The capital city of France is the famous city of")


@pytest.mark.parametrize("prefill", ["plain", "continue"])
def test_a_begun_answer_is_gone_on_with(plain: str, local: Model, prefill: str) -> None:
    request = Request(messages=(QUESTION, BEGUN), max_tokens=3, top_logprobs=20)
    there, here = ask_with(plain, request, prefill=prefill), ask(local, request)
    assert there.text == here.text == "".join(place.token for place in there.positions), "the beginning is not repeated"
    assert there.positions[0].token == " Paris"
    agree(there, here)
    anew = ask_with(plain, Request(messages=(QUESTION,), max_tokens=3, top_logprobs=20))
    assert anew.positions[0].token == "The"


ASKED = Request(messages=(QUESTION,), max_tokens=60, top_logprobs=20)


@pytest.mark.parametrize("reported", ["auto", "none"])
def test_thinking_stands_apart_whether_the_server_tells_it_apart_or_not(thinking: str, reported: str) -> None:
    found = ask_with(thinking, ASKED, body={"grammar": THOUGHT, "reasoning_format": reported})
    assert found.thinking == "Is it (A) or (B)?"
    assert found.text in ("(A)", "(B)", "(C)")
    assert "".join(place.token for place in found.positions).rstrip("\n") == found.text
    reading, written = read_choice(found, "ABC"), read_choice_text(found, "ABC")
    assert reading.state is State.OK
    assert reading.probabilities.index(max(reading.probabilities)) == written.probabilities.index(1.0)


def test_thinking_that_is_cut_off_is_no_answer(thinking: str) -> None:
    short = Request(messages=(QUESTION,), max_tokens=12, top_logprobs=20)
    found = ask_with(thinking, short, body={"grammar": THOUGHT, "reasoning_format": "none"})
    assert (found.text, found.positions, found.finish) == ("", (), "length")
    assert found.thinking.startswith("Is it")
    assert read_choice(found, "ABC").state is read_choice_text(found, "ABC").state is State.TRUNCATED


def test_room_for_thinking_is_added(thinking: str) -> None:
    short = Request(messages=(QUESTION,), max_tokens=6, top_logprobs=20)
    found = ask_with(thinking, short, body={"grammar": THOUGHT, "reasoning_format": "none"}, thinking_tokens=50)
    assert read_choice(found, "ABC").state is State.OK
