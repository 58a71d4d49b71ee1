"""The inspection as a function: the length effect, its interval, and data sets of the hub."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import shared
from evenhand.errors import InputError
from evenhand.pairs.preference_audit import LengthChoice
from evenhand.pairs.preferences import Columns
from evenhand.studies.inspect_data import inspect_data, share_of_longer_chosen
from evenhand.studies.preference_source import open_preferences


def test_length_on_hh_harmless() -> None:
    """The reference figure is .442; on the 600 pairs at hand it is 267 of 593, and .442 is well inside the interval."""
    found = inspect_data(str(shared("preferences/hh_rlhf/harmless-base_test_first600.jsonl")))
    share = found.longer_chosen
    assert (share.n, found.counts.equal_length) == (593, 7)
    assert share.value == pytest.approx(267 / 593)
    assert share.low is not None
    assert share.high is not None
    assert share.low < 0.442 < share.high < 0.5
    assert found.counts.finding("empty").rows == (87, 517)


def test_the_interval_resamples_inputs() -> None:
    one_input_each = tuple(LengthChoice(str(number), number % 2 == 0) for number in range(100))
    ten_inputs = tuple(LengthChoice(str(number // 10), number // 10 % 2 == 0) for number in range(100))
    narrow, wide = (share_of_longer_chosen(choices, seed=1) for choices in (one_input_each, ten_inputs))
    assert narrow.value == wide.value == 0.5
    assert (narrow.clusters, wide.clusters) == (100, 10)
    assert None not in (narrow.low, narrow.high, wide.low, wide.high)
    assert (wide.high or 0) - (wide.low or 0) > 2 * ((narrow.high or 0) - (narrow.low or 0))


def test_no_length_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"prompt": "Q?", "chosen": "xx", "rejected": "yy"}), "utf-8")
    share = inspect_data(str(path)).longer_chosen
    assert share.value is None
    assert "unequal length" in share.method


def test_max_characters_above_0() -> None:
    with pytest.raises(InputError, match="--max-characters: is 0"):
        inspect_data("a.jsonl", max_characters=0)


class _Hub:
    """A stand-in for the optional package, which hands out rows and remembers what it was asked for."""

    def __init__(self, rows: list[dict[str, Any]] | Exception) -> None:
        self.rows = rows
        self.asked: tuple[str, str | None, str] | None = None

    def load_dataset(self, path: str, config: str | None, *, split: str, streaming: bool) -> Iterator[dict[str, Any]]:
        assert streaming
        self.asked = (path, config, split)
        if isinstance(self.rows, Exception):
            raise self.rows
        return iter(self.rows)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("hf:us/set", ("us/set", None, "train")),
        ("hf:us/set:test", ("us/set", None, "test")),
        ("hf:us/set:raw:test", ("us/set", "raw", "test")),
    ],
)
def test_hub(monkeypatch: pytest.MonkeyPatch, name: str, asked: tuple[str, str | None, str]) -> None:
    hub = _Hub([{"q": "Q?", "good": "yes", "bad": "no"}] * 3)
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=hub.load_dataset))
    stream = open_preferences(name, columns=Columns(input="q", chosen="good", rejected="bad"))
    assert stream.source == name
    assert [outcome.row for outcome in stream.outcomes] == [1, 2, 3]
    assert hub.asked == asked


def test_hub_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError) as caught:
        open_preferences("hf:us/set")
    assert "pip install 'evenhand[hub]'" in str(caught.value)


def test_hub_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = _Hub(ConnectionError("no such host"))
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=hub.load_dataset))
    with pytest.raises(InputError, match=r"hf:us/set: can't be loaded \(no such host\)"):
        open_preferences("hf:us/set")
    with pytest.raises(InputError, match="names no data set"):
        open_preferences("hf:")
