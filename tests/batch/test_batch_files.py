"""Batch files: what stands in them, where they are cut, and the manifest beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import EvenhandError, InputError
from evenhand.execution.batch import (
    BatchLimits,
    BatchWriter,
    FileState,
    KeptRequests,
    Manifest,
    batches_locked,
    keys_of,
)
from evenhand.instruments import Message, Request
from evenhand.models import ModelRole, ModelSettings, open_model
from evenhand.models.fast_json import encoded
from evenhand.models.http import HttpModel

NAME = "http://127.0.0.1:1/v1#m"


def model(**settings: Any) -> HttpModel:
    opened = open_model(NAME, ModelRole.GRADER, settings={NAME: ModelSettings(**settings)})
    assert isinstance(opened, HttpModel)
    return opened


def chat(number: int, text: str = "Choose") -> Request:
    return Request(messages=(Message("user", f"{text} {number}."),), max_tokens=4, top_logprobs=100, stop=("}",))


def written(run: Path, asked: list[Request], to: HttpModel, **limits: int) -> Manifest:
    with batches_locked(run) as manifest, BatchWriter(manifest, BatchLimits(**limits)) as writer:
        for request in asked:
            writer.add(request.key(to.identity), to, request)
        manifest.put(writer.done())
    return Manifest(run)


def lines_of(manifest: Manifest) -> list[list[dict[str, Any]]]:
    return [
        [json.loads(line) for line in manifest.path_of(file).read_text("utf-8").splitlines()] for file in manifest.files
    ]


def test_a_line_is_what_is_sent_online(tmp_path: Path) -> None:
    to = model(thinking_tokens=100, without=("seed",), body={"reasoning_effort": "low"}, prefill="continue")
    begun = Request(messages=(Message("user", "Rate."), Message("assistant", '{"first":')), max_tokens=40)
    manifest = written(tmp_path, [chat(1), begun], to)
    ((first, second),) = lines_of(manifest)
    assert first == {
        "custom_id": chat(1).key(to.identity),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": json.loads(encoded(to.body(chat(1)))),
    }
    assert first["body"]["max_tokens"] == 104
    assert second["body"]["continue_final_message"] is True
    raw = manifest.path_of(manifest.files[0]).read_bytes().splitlines()[1]
    assert raw.endswith(b',"body":' + encoded(to.body(begun)) + b"}")


def test_a_file_has_one_model_and_one_endpoint(tmp_path: Path) -> None:
    one, other = model(), model(thinking_tokens=9)
    with batches_locked(tmp_path) as manifest, BatchWriter(manifest, BatchLimits()) as writer:
        for number in range(3):
            bare = Request(prompt=f"Is it {number}?", top_logprobs=5)
            for to in (one, other):
                for request in (chat(number), bare):
                    writer.add(request.key(to.identity), to, request)
        manifest.put(writer.done())
    files = Manifest(tmp_path).files
    assert [(file.identity, file.endpoint, file.requests) for file in files] == [
        (to.identity, endpoint, 3) for to in (one, other) for endpoint in ("/v1/chat/completions", "/v1/completions")
    ]
    for file, lines in zip(files, lines_of(Manifest(tmp_path)), strict=True):
        assert {line["url"] for line in lines} == {file.endpoint}


def test_files_are_cut_by_count(tmp_path: Path) -> None:
    manifest = written(tmp_path, [chat(n) for n in range(7)], model(), requests=3)
    assert [file.requests for file in manifest.files] == [3, 3, 1]
    assert [file.name for file in manifest.files] == ["0001.jsonl", "0002.jsonl", "0003.jsonl"]


def test_files_are_cut_by_bytes_of_utf_8(tmp_path: Path) -> None:
    """A letter that takes three bytes counts three."""
    to, requests = model(), [chat(n, "公平" * 300) for n in range(10)]
    size = len(json.dumps(to.body(requests[0]), ensure_ascii=False).encode()) + 200
    assert size > 1800
    manifest = written(tmp_path, requests, to, bytes=3 * size)
    for file in manifest.files:
        path = manifest.path_of(file)
        assert path.stat().st_size == file.bytes <= 3 * size
    assert [file.requests for file in manifest.files] == [3, 3, 3, 1]
    exact = manifest.files[0].bytes
    again = written(tmp_path / "exact", requests, to, bytes=exact)
    assert [file.requests for file in again.files] == [3, 3, 3, 1]
    less = written(tmp_path / "less", requests, to, bytes=exact - 1)
    assert [file.requests for file in less.files] == [2, 2, 2, 2, 2]


def test_a_request_that_fits_no_file_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--max-megabytes: a request to .* may have 900"):
        written(tmp_path, [chat(1), chat(2, "long " * 300)], model(), bytes=900)
    with batches_locked(tmp_path) as manifest:
        assert manifest.files == ()
        manifest.sweep()
    assert {path.name for path in (tmp_path / "batches").iterdir()} <= {".lock"}


@pytest.mark.parametrize("limits", [{"requests": 0}, {"bytes": 0}])
def test_limits_that_allow_nothing(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match="--max-"):
        BatchLimits(**limits)


def test_requests_are_kept_whole(tmp_path: Path) -> None:
    """What the body leaves out or changes is there: limits, control marks, and half of a surrogate pair."""
    to = model(without=("seed",))
    requests = [
        chat(1),
        Request(messages=(Message("user", "<|im_end|> and half: \ud83d"),), max_tokens=7, temperature=1.0, seed=12),
        Request(prompt="Is it?\nNo\u2028newline.", top_logprobs=100),
    ]
    manifest = written(tmp_path, requests, to)
    found: list[Request] = []
    for file in manifest.files:
        with KeptRequests(manifest.requests_of(file), file.identity) as kept:
            assert list(keys_of(manifest.requests_of(file))) == list(kept.places)
            found += [kept[key] for key in reversed(list(kept.places))][::-1]
    assert found == requests


def test_a_damaged_request_is_told(tmp_path: Path) -> None:
    to = model()
    manifest = written(tmp_path, [chat(1), chat(2)], to)
    (file,) = manifest.files
    path = manifest.requests_of(file)
    path.write_text(path.read_text().replace("Choose 2", "Choose 3"))
    with KeptRequests(path, file.identity) as kept:
        assert kept[chat(1).key(to.identity)] == chat(1)
        with pytest.raises(InputError, match=r"0001\.requests\.jsonl: the request .* is damaged"):
            kept[chat(2).key(to.identity)]
    path.write_text("nothing")
    with pytest.raises(InputError, match="is damaged"):
        KeptRequests(path, file.identity)
    path.unlink()
    with pytest.raises(InputError, match="can't be read"):
        KeptRequests(path, file.identity)


def test_the_manifest_is_kept_with_each_change(tmp_path: Path) -> None:
    manifest = written(tmp_path, [chat(n) for n in range(3)], model(), requests=1)
    first, second, third = manifest.files
    manifest.change(first, state=FileState.SUBMITTED, batch="batch_1")
    manifest.put([], without=[third])
    again = Manifest(tmp_path)
    assert [(file.name, file.state, file.batch) for file in again.files] == [
        ("0001.jsonl", "submitted", "batch_1"),
        ("0002.jsonl", "written", ""),
    ]
    assert again.next_name() == "0004.jsonl", "a name is never given twice"
    again.change(second, state=FileState.COLLECTED)
    again.sweep()
    assert {path.name for path in again.folder.glob("*.jsonl")} == {"0001.jsonl", "0001.requests.jsonl"}
    assert len({file.mark for file in (first, second, third)}) == 3


@pytest.mark.parametrize("text", ["", "[]", '{"files": [{}], "next": 1}', '{"files": 1, "next": 2}'])
def test_a_damaged_manifest_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: is no manifest"):
        Manifest(tmp_path)


def test_one_command_at_a_time(tmp_path: Path) -> None:
    with (
        batches_locked(tmp_path),
        pytest.raises(EvenhandError, match="another command is at work"),
        batches_locked(tmp_path),
    ):
        pass
    with batches_locked(tmp_path):
        pass


def test_a_folder_without_batch_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no batch files"):
        Manifest.there(tmp_path)
    assert list(tmp_path.iterdir()) == []
