"""The settings file: every field is heeded, every mistake is told with its place, and no key passes through."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InputError
from evenhand.instruments import Message, Request
from evenhand.models import AccessError, Limits, ModelRole, ModelSettings, Price, open_model, read_model_settings
from evenhand.models.http import HttpModel
from http_loopback import CHAT, ask, loopback

FULL = """
["openai:gpt-5-mini"]
key_variable = "MY_OPENAI_KEY"
headers = { OpenAI-Organization = "$OPENAI_ORG", X-Title = "an audit" }
body = { reasoning_effort = "low", provider = { only = ["one"] } }
without = ["seed", "temperature"]
max_tokens_field = "max_completion_tokens"
thinking_tokens = 4096
prefill = "continue"
top_logprobs = 5
concurrency = 64
requests_per_minute = 500
tokens_per_minute = 200_000
timeout = 60
price = { input = 0.25, cached_input = 0.025, output = 2 }
batch_discount = 0.4

["smollm2-135m"]
price = { input = 1, output = 2 }
"""
CONTINUED = Request(messages=(Message("user", "Choose."), Message("assistant", "I take (")), max_tokens=4)


def read(tmp_path: Path, text: str) -> dict[str, ModelSettings]:
    path = tmp_path / "models.toml"
    path.write_text(text, "utf-8")
    return dict(read_model_settings(path))


def test_every_field(tmp_path: Path) -> None:
    found = read(tmp_path, FULL)
    assert found["openai:gpt-5-mini"] == ModelSettings(
        key_variable="MY_OPENAI_KEY",
        headers={"OpenAI-Organization": "$OPENAI_ORG", "X-Title": "an audit"},
        body={"reasoning_effort": "low", "provider": {"only": ["one"]}},
        without=("seed", "temperature"),
        max_tokens_field="max_completion_tokens",
        thinking_tokens=4096,
        prefill="continue",
        top_logprobs=5,
        concurrency=64,
        requests_per_minute=500.0,
        tokens_per_minute=200_000.0,
        timeout=60.0,
        price=Price(0.25, 0.025, 2.0),
        batch_discount=0.4,
    )
    assert found["smollm2-135m"].price == Price(1.0, 1.0, 2.0)
    assert read(tmp_path, "") == {}


def test_a_model_is_opened_with_them(tmp_path: Path) -> None:
    settings = read(tmp_path, FULL)
    model = open_model("openai:gpt-5-mini", ModelRole.GRADER, settings=settings)
    assert (model.concurrency, model.prefills, model.price) == (64, True, Price(0.25, 0.025, 2.0))
    assert model.limits == Limits(500.0, 200_000.0)
    assert open_model("smollm2-135m", ModelRole.GRADER, settings=settings).price == Price(1.0, 1.0, 2.0)
    plain = open_model("openai:gpt-5-nano", ModelRole.GRADER, settings=settings)
    assert (plain.concurrency, plain.prefills, plain.limits) == (256, False, Limits())


def test_a_listed_price_is_taken_where_none_is_given() -> None:
    listed = open_model("openai:gpt-4.1-mini", ModelRole.GRADER).price
    assert listed is not None
    assert listed.input < listed.output
    assert open_model("http://127.0.0.1:1/v1#gpt-4.1-mini", ModelRole.GRADER).price is None


def test_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "a-key-of-mine\n")
    monkeypatch.setenv("ORG", "org-1")
    with loopback() as server:
        model = server.model_with(
            key_variable="MY_KEY",
            headers={"OpenAI-Organization": "$ORG", "X-Title": "an audit"},
            body={"reasoning_effort": "low", "provider": {"only": ["one"]}},
            without=("seed", "temperature", "stop"),
            max_tokens_field="max_completion_tokens",
            thinking_tokens=4096,
            top_logprobs=5,
        )
        ask(model, Request(messages=(Message("user", "Choose."),), max_tokens=4, top_logprobs=100, stop=("}",)))
        (asked,) = server.asked
    assert asked.body == {
        "model": "a-model",
        "messages": [{"role": "user", "content": "Choose."}],
        "max_completion_tokens": 4100,
        "logprobs": True,
        "top_logprobs": 5,
        "reasoning_effort": "low",
        "provider": {"only": ["one"]},
    }
    assert asked.headers["Authorization"] == "Bearer a-key-of-mine"
    assert (asked.headers["OpenAI-Organization"], asked.headers["X-Title"]) == ("org-1", "an audit")


def test_a_header_of_ones_own_takes_the_keys_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", "a-key")
    monkeypatch.setenv("SIGNED", "Signature 123")
    with loopback() as server:
        ask(server.model_with(headers={"authorization": "$SIGNED"}))
        sent = [value for name, value in server.asked[0].headers.items() if name.lower() == "authorization"]
    assert sent == ["Signature 123"]


@pytest.mark.parametrize(
    ("prefill", "fields"),
    [("plain", {}), ("continue", {"continue_final_message": True, "add_generation_prompt": False})],
)
def test_a_begun_answer_is_asked_to_be_gone_on_with(prefill: str, fields: dict[str, Any]) -> None:
    with loopback() as server:
        model = server.model_with(prefill=prefill)
        assert model.prefills
        ask(model, CONTINUED)
        ask(model, CHAT)
        begun, whole = (asked.body for asked in server.asked)
    names = {"continue_final_message", "add_generation_prompt"}
    assert {name: value for name, value in begun.items() if name in names} == fields
    assert not names & whole.keys(), "only a last message of the assistant's is gone on with"


def test_a_variable_that_is_not_set_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORG", raising=False)
    with loopback() as server:
        with pytest.raises(AccessError, match=r"header X-Org .* variable ORG, which is not set\. The way out: set it"):
            ask(server.model_with(headers={"X-Org": "$ORG"}))
        assert not server.asked


def identity(**settings: Any) -> str:
    return HttpModel("m", "http://host/v1", "m", "KEY", ModelSettings(**settings)).identity


def test_what_determines_a_reply_belongs_to_the_identity() -> None:
    plain = "openai-compatible http://host/v1 m"
    assert HttpModel("m", "http://host/v1/", "m", "KEY").identity == plain, "ledgers of earlier versions stay valid"
    determining: list[dict[str, Any]] = [
        {"body": {"a": 1}},
        {"body": {"a": 2}},
        {"without": ("seed",)},
        {"thinking_tokens": 1},
        {"prefill": "plain"},
        {"prefill": "continue"},
        {"top_logprobs": 5},
        {"headers": {"X-Beta": "one"}},
        {"headers": {"X-Beta": "two"}},
    ]
    assert len({plain, *(identity(**one) for one in determining)}) == len(determining) + 1
    for other in (
        {"key_variable": "A"},
        {"headers": {"X-Org": "$ORG"}},
        {"max_tokens_field": "max_completion_tokens"},
        {"concurrency": 1},
        {"requests_per_minute": 1.0},
        {"timeout": 1.0},
        {"price": Price(1, 1, 1)},
        {"batch_discount": 0.4},
        {"top_logprobs": 20},
        {"thinking_tokens": 0},
    ):
        assert identity(**other) == plain
    assert identity(body={"a": 1, "b": 2}) == identity(body={"b": 2, "a": 1})
    assert identity(without=("seed", "stop")) == identity(without=("stop", "seed"))


def test_the_record_tells_settings_and_no_headers_value() -> None:
    settings = ModelSettings(headers={"X-Org": "$ORG", "X-Title": "an audit"}, body={"top_p": 0.9}, prefill="plain")
    model = HttpModel("m", "http://host/v1", "m", "KEY", settings)
    assert model.describe()["settings"] == {
        "body": {"top_p": 0.9},
        "headers": ["X-Org", "X-Title"],
        "prefill": "plain",
    }
    assert "an audit" not in f"{model.describe()} {model.identity}"
    assert "settings" not in HttpModel("m", "http://host/v1", "m", "KEY").describe()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("max_token = 5", r"max_token: is no setting of a model\. The way out: use key_variable, "),
        ("key_variable = 7", "key_variable: is not the name of an environment variable"),
        ('key_variable = "sk-proj-SECRET"', "key_variable: is not the name"),
        ('key_variable = "SECRETkey"', "key_variable: is not the name"),
        ('headers = "X"', r"headers: is not a table\. The way out: write headers = { name"),
        ('headers = { "X Y" = "a" }', r"headers\.X Y: is no header"),
        ('headers = { Host = "a" }', r"headers\.Host: is no header"),
        ("headers = { X-Y = 1 }", r"headers\.X-Y: is not a line"),
        ('headers = { X-Y = "a\\nb" }', r"headers\.X-Y: is not a line"),
        ('headers = { Authorization = "Bearer SECRET" }', r"Authorization: seems to hold a key.*\$MY_KEY"),
        ('headers = { api-key = "SECRET" }', "api-key: seems to hold a key"),
        ('headers = { X-Custom = "sk-SECRET-0123456789abcdef" }', "X-Custom: seems to hold a key"),
        ('headers = { X-Custom = "$my key" }', "X-Custom: names no environment variable"),
        ("body = 1", "body: is not a table"),
        ("body = { messages = [] }", r"body\.messages: is set by each request"),
        ("body = { temperature = 1 }", r"body\.temperature: is set by each request"),
        ("body = { at = 2026-01-01 }", r"body\.at: can't be sent as JSON"),
        ("body = { p = nan }", r"body\.p: can't be sent as JSON"),
        ('body = { auth = [{ api_key = "SECRET" }] }', r"body\.auth\.api_key: seems to be a key"),
        ('body = { note = "Bearer SECRET" }', r"body\.note: seems to hold a key"),
        ('without = "seed"', r"without: is not a list .* choose from temperature, seed"),
        ('without = ["messages"]', "without: is not a list"),
        ("without = [[1]]", "without: is not a list"),
        ("batch_discount = 50", "batch_discount: is not a share"),
        ('max_tokens_field = "max tokens"', "max_tokens_field: is not the name of a field"),
        ("thinking_tokens = -1", "thinking_tokens: is not a whole number of at least 0"),
        ("thinking_tokens = 1.5", "thinking_tokens: is not a whole number"),
        ("thinking_tokens = true", "thinking_tokens: is not a whole number"),
        ('prefill = "yes"', r"prefill: is neither continue nor plain\. The way out: .*vLLM"),
        ("top_logprobs = 0", "top_logprobs: is not a whole number of at least 1"),
        ("concurrency = 0", "concurrency: is not a whole number of at least 1"),
        ("requests_per_minute = 0", "requests_per_minute: is not above 0"),
        ('tokens_per_minute = "9"', r"tokens_per_minute: is not a number\. The way out: .*quotation marks"),
        ("timeout = inf", "timeout: is not a number"),
        ("price = 1", "price: is not a table"),
        ("price = { input = 1 }", "price: is not a price"),
        ("price = { input = 1, output = 2, cache = 3 }", "price: is not a price"),
        ("price = { input = -1, output = 2 }", "price: is not a price"),
        ('price = { input = "1", output = 2 }', r"price\.input: is not a number"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(tmp_path, f'["openai:m"]\n{line}\n')
    message = str(caught.value)
    assert message.startswith(f'{tmp_path / "models.toml"}, ["openai:m"] ')
    assert "The way out: " in message
    assert "SECRET" not in message


@pytest.mark.parametrize("name", ["smollm2-135m", "gguf:/a/model.gguf"])
def test_a_model_in_this_process_has_a_price_alone(tmp_path: Path, name: str) -> None:
    for line in ("timeout = 5", 'key_variable = "KEY"', 'prefill = "plain"'):
        with pytest.raises(InputError, match=r"is no setting of a model in this process\. The way out: use price"):
            read(tmp_path, f'["{name}"]\n{line}\n')


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('["gpt-4.1"]\n', r"""\["gpt-4.1"\]: there is no model 'gpt-4.1'\. The way out: use the name as the command"""),
        ("[openai]\nm = {}\n", "there is no model 'openai'"),
        ('"openai:m" = 1\n', r"is not a table\. The way out: write \[\"openai:m\"\]"),
        ('["openai:m"\n', "is no TOML file"),
        ('["openai:m"]\ntimeout = 1\ntimeout = 2\n', "is no TOML file .*line 3"),
        ('["https://me:SECRET@host/v1#m"]\n', "must not hold a key"),
        ('["https://host/v1?key=SECRET#m"]\n', "must not hold a key"),
        ('["openai:m"]\nkey_variable = "SECRET', "is no TOML file"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "models.toml") in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_files_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"can't be read.*--models"):
        read_model_settings(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_model_settings(tmp_path / "bytes.toml")
