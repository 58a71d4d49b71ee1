"""The public files, read whole, and reading as a stream."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import shared
from evenhand.pairs.preferences import ProblemKind, read_preferences, stream_of_records
from evenhand.pairs.preferences.records import Record


@pytest.mark.parametrize(("name", "pairs"), [("Natural", 100), ("GPTInst", 92), ("Manual", 46)])
def test_llmbar(name: str, pairs: int) -> None:
    path = shared(f"preferences/llmbar/{name}.json")
    found = read_preferences(path)
    assert (found.format, len(found.pairs), found.problems) == ("llmbar", pairs, ())
    for pair, row in zip(found.pairs, json.loads(path.read_text("utf-8")), strict=True):
        assert pair.chosen == row[f"output_{row['label']}"]


def test_hh_rlhf() -> None:
    path = shared("preferences/hh_rlhf/harmless-base_test_first600.jsonl")
    found = read_preferences(path)
    assert (found.format, len(found.pairs), found.problems) == ("hh-rlhf", 600, ())
    raw = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    for pair, row in zip(found.pairs, raw, strict=True):
        last = row["chosen"].rindex("\n\nAssistant:")
        assert row["rejected"][:last] == row["chosen"][:last]
        assert pair.chosen == row["chosen"][last:].removeprefix("\n\nAssistant:").strip()
        assert max(1, pair.input.count("[H]: ")) >= row["chosen"].count("\n\nHuman:")


@pytest.mark.parametrize("name", ["aligned_vqvtb", "orthogonal_adcbg"])
def test_icai(name: str) -> None:
    found = read_preferences(shared(f"preferences/icai/synthetic_data_{name}.csv"))
    assert (found.format, len(found.pairs), found.problems) == ("icai", 30, ())
    assert len({pair.input_id for pair in found.pairs}) == 3
    assert not any("Instruction:" in pair.chosen for pair in found.pairs)


def test_pandalm() -> None:
    """Six of its rows have the boolean true for a response that was the word."""
    found = read_preferences(shared("gold/pandalm/testset-v1.json"))
    assert (found.format, found.rows, len(found.pairs)) == ("pandalm", 999, 993)
    assert Counter(problem.kind for problem in found.problems) == {ProblemKind.WRONG_TYPE: 6}
    assert sum(pair.tie for pair in found.pairs) == 105


def test_a_stream_reads_no_further_than_it_is_asked() -> None:
    taken = 0

    def records() -> Iterator[Record]:
        nonlocal taken
        for number in range(1, 10_001):
            taken = number
            yield Record(number, {"prompt": f"{number}?", "chosen": "yes", "rejected": "no"})

    stream = stream_of_records(records(), source="made here")
    assert taken == 200
    assert sum(1 for _ in stream.outcomes) == 10_000


def test_a_pair_that_comes_again_has_an_id_of_its_own(tmp_path: Path) -> None:
    row = json.dumps({"prompt": "Q?", "chosen": "yes", "rejected": "no"})
    path = tmp_path / "a.jsonl"
    path.write_text(f"{row}\n{row}\n", "utf-8")
    first, second = read_preferences(path).pairs
    assert second.pair_id == f"{first.pair_id}-2"
    assert second.input_id == first.input_id
