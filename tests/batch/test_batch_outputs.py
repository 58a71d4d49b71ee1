"""Whatever a provider's lines are: each request is answered, noted or sent again, and every line is counted."""

import json
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.execution import Ledger
from evenhand.execution.batch import BatchLimits, BatchWriter, KeptRequests, batches_locked, take_in
from evenhand.instruments import Message, Request
from evenhand.models import ModelRole, open_model
from evenhand.models.batch_lines import Failed, outcome, read_line
from evenhand.models.http import HttpModel
from evenhand.readings import Reply

NAME = "http://127.0.0.1:1/v1#m"
GRADE = Request(messages=(Message("user", "Choose."),), max_tokens=6, top_logprobs=20)


def model() -> HttpModel:
    opened = open_model(NAME, ModelRole.GRADER)
    assert isinstance(opened, HttpModel)
    return opened


def line(key: str, status: int | None, body: Any = None, error: Any = None) -> bytes:
    response = None if status is None else {"status_code": status, "request_id": "r", "body": body}
    return json.dumps({"id": "x", "custom_id": key, "response": response, "error": error}).encode()


def good(text: str) -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": {}}


KINDS: dict[str, tuple[int | None, Any, Any]] = {
    "good": (200, good("yes"), None),
    "429": (429, {"error": {"message": "wait"}}, None),
    "expired": (None, None, {"code": "batch_expired", "message": "It expired."}),
    "refused": (400, {"error": {"code": "content_filter"}}, None),
    "overflow": (400, {"error": {"code": "context_length_exceeded"}}, None),
}
PASSING = {"429", "expired"}


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(sorted(KINDS)), max_size=3), min_size=1, max_size=12),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_every_request_comes_to_something(events: list[list[str]], strangers: int, chance: random.Random) -> None:
    to = model()
    requests = [Request(messages=(Message("user", f"{n}"),), max_tokens=4) for n in range(len(events))]
    keys = [request.key(to.identity) for request in requests]
    lines = [(place, kind) for place, kinds in enumerate(events) for kind in kinds]
    lines += [(-1, "good")] * strangers
    chance.shuffle(lines)
    with TemporaryDirectory() as folder:
        run = Path(folder)
        with batches_locked(run) as manifest, BatchWriter(manifest, BatchLimits()) as writer:
            for key, request in zip(keys, requests, strict=True):
                writer.add(key, to, request)
            (file,) = writer.done()
        halves = lines[: len(lines) // 2], lines[len(lines) // 2 :]
        paths = []
        for number, half in enumerate(halves):
            path = run / f"{number}"
            path.write_bytes(b"\n".join(line(keys[n] if n >= 0 else "stranger", *KINDS[kind]) for n, kind in half))
            paths.append(path)
        with (
            KeptRequests(manifest.requests_of(file), file.identity) as kept,
            Ledger(run / "ledger.sqlite") as ledger,
        ):
            tally, again = take_in(paths, kept, to, ledger, 1)
            answered = {key for key in keys if ledger.find(key)}
            noted = {key for key in keys if ledger.last_failure(key)}
    first = {place: kind for place, kind in reversed(lines) if kind != "good"}
    expected: dict[str, set[str]] = {"answered": set(), "again": set(), "noted": set()}
    for place, kinds in enumerate(events):
        come_to = "answered" if "good" in kinds else "again" if not kinds or first[place] in PASSING else "noted"
        expected[come_to].add(keys[place])
    assert (answered, set(again), noted) == (expected["answered"], expected["again"], expected["noted"])
    assert len(again) == len(set(again))
    assert (tally.replies, tally.unknown, tally.unreadable) == (len(answered), strangers, 0)
    assert tally.missing == sum(not kinds for kinds in events)
    assert tally.duplicates == sum(len(kinds) - 1 for kinds in events if kinds)
    assert tally.missing + tally.again.total() == len(again)
    assert tally.refused.total() == len(noted)


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"{}", b"null", b"\xff\xfe", b'{"custom_id": 7}', b'{"custom_id": "k", "response"', b"[" * 100_000],
)
def test_lines_that_say_nothing(raw: bytes) -> None:
    assert read_line(raw) is None


@pytest.mark.parametrize(
    ("status", "body", "error", "kind", "passing"),
    [
        (429, {"error": {"message": "slow down"}}, None, "rate_limit", True),
        (429, {"error": {"code": "insufficient_quota"}}, None, "access", True),
        (500, {"error": {"message": "oh"}}, None, "server", True),
        (401, {"error": {"message": "oh"}}, None, "access", True),
        (400, {"error": {"message": "oh"}}, None, "access", False),
        (404, {"error": {"message": "no model"}}, None, "access", False),
        (422, {"error": {"message": "oh"}}, None, "refused", False),
        (400, {"error": {"code": "content_filter"}}, None, "refused", False),
        (400, {"error": {"code": "context_length_exceeded"}}, None, "overflow", False),
        (None, None, {"code": "batch_expired"}, "not_run", True),
        (None, None, {"code": "batch_cancelled"}, "not_run", True),
        (None, None, {"code": "unheard_of"}, "bad_reply", True),
        (None, None, None, "bad_reply", True),
        (200, None, None, "bad_reply", True),
        (200, {"choices": []}, None, "bad_reply", True),
        (200, {"choices": [{"message": {"content": 7}}]}, None, "bad_reply", False),
        (200, {"error": {"code": 503}}, None, "server", True),
        (200, good("(C)"), {"code": 503}, "server", True),
        (200, good("(C)"), None, "access", False),
    ],
)
def test_what_a_failed_line_is(status: int | None, body: Any, error: Any, kind: str, passing: bool) -> None:
    said = read_line(line("k", status, body, error))
    assert said is not None
    found = outcome(said, model(), GRADE)
    assert isinstance(found, Failed)
    assert (found.kind, found.passing) == (kind, passing)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "read", "thinking"),
    [('{"first": 7}', "7}", ""), ("<think>Hm.</think>7}", "7}", "Hm."), (" 7}", "7}", "")],
)
def test_a_reply_is_read_as_online(text: str, read: str, thinking: str) -> None:
    """Thinking is kept apart, and a begun answer is taken off where the endpoint sends it along."""
    to = model()
    to.prefills = True
    request = Request(messages=(Message("user", "Rate."), Message("assistant", '{"first":')), max_tokens=40)
    said = read_line(line("k", 200, good(text)))
    assert said is not None
    found = outcome(said, to, request)
    assert found == to.read(good(text), request, b"")
    assert isinstance(found, Reply)
    assert (found.text.strip(), found.thinking) == (read, thinking)


def test_a_status_that_is_none_is_no_reply() -> None:
    counts: Counter[str] = Counter()
    for status in ("200", True, None, 2.0):
        said = read_line(
            json.dumps({"custom_id": "k", "response": {"status_code": status, "body": good("x")}}).encode()
        )
        assert said is not None
        found = outcome(said, model(), Request(messages=(Message("user", "x"),)))
        counts[found.kind if isinstance(found, Failed) else "reply"] += 1
    assert counts == {"bad_reply": 4}
