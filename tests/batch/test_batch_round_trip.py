"""A run by way of batch files comes to what the same run comes to online, whatever happens to the lines."""

from pathlib import Path
from typing import Any

import pytest

from batch_runs import QUICK, audit_of, everything_in, holding, rate_plan, rows, said
from batch_server import CANARY, MODEL, BatchServer
from conftest import read_json
from evenhand.execution import Ledger
from evenhand.execution.batch import BatchLimits, FileState, Manifest
from evenhand.studies.audit import audit
from evenhand.studies.audit.run import stages_of_audit
from evenhand.studies.batch import Collected, WriteOptions, Written, collect, submit, write
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate.run import stages_of_rate


def wrote(plan: RatePlan, **options: Any) -> Written:
    return write(plan.out, stages_of_rate(plan), WriteOptions(**options))


def round_trip(run: Path, models: Path | None = None, **limits: int) -> Collected:
    submitted = submit(run, models, patience=QUICK)
    assert submitted.stopped is None
    return collect(run, models, limits=BatchLimits(**limits), patience=QUICK)


def settings(folder: Path, server: BatchServer, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(f'["{server.name}"]\n{text}\n', "utf-8")
    return path


def test_a_rating_run(tmp_path: Path, server: BatchServer) -> None:
    """With answers that are begun, so that second calls follow: two rounds."""
    models = settings(tmp_path, server, 'prefill = "plain"')
    plan = rate_plan(tmp_path, server, models=models)
    first = wrote(plan)
    assert (first.requests, first.in_ledger) == (4 * 2 * 2 + 2 * 2 * 2, 0)
    found = round_trip(plan.out, models)
    assert found.total.counts() == {"replies": 24}
    second = wrote(plan)
    assert (second.requests, second.in_ledger) == (48, 24), "1 or 10, for either output"
    assert round_trip(plan.out, models).total.replies == 48
    third = wrote(plan)
    assert (third.files, third.requests, third.in_ledger) == ((), 0, 72)
    assert server.seen()["online"] == 0
    assert rate(plan).calls == 0
    online = rate_plan(tmp_path, server, models=models, out=tmp_path / "online")
    assert rate(online).calls == 72
    assert rows(plan.out / "ratings.parquet") == rows(online.out / "ratings.parquet")
    assert {row["chosen_state"] for row in rows(plan.out / "ratings.parquet")} == {"ok"}
    assert server.seen()["online"] == 72
    for name in ("pairs.parquet", "questions.json"):
        assert (plan.out / name).read_bytes() == (online.out / name).read_bytes()


@pytest.mark.parametrize("instruments", ["rubric", "compact"])
def test_an_audit(tmp_path: Path, server: BatchServer, instruments: str) -> None:
    """The subject first, then its graders; the compact instruments go to the other endpoint."""
    plan = audit_of(tmp_path, server, instruments=instruments)
    written = write(plan.out, stages_of_audit(plan))
    assert [file.requests for file in written.files] == [8]
    assert round_trip(plan.out).total.replies == 8
    written = write(plan.out, stages_of_audit(plan))
    endpoint = "/v1/chat/completions" if instruments == "rubric" else "/v1/completions"
    assert {file.endpoint for file in written.files} == {endpoint}
    assert round_trip(plan.out).total.replies == written.requests > 8
    assert write(plan.out, stages_of_audit(plan)).requests == 0
    result = audit(plan)
    assert (result.calls, server.seen()["online"]) == (0, 0)
    online = audit_of(tmp_path, server, instruments=instruments, out=tmp_path / "online")
    again = audit(online)
    assert again.summary.as_json() == result.summary.as_json()
    for name in ("responses.parquet", "judgments.parquet"):
        ours, theirs = (rows(folder / name, without="at") for folder in (plan.out, online.out))
        assert ours == theirs
    assert read_json(plan.out / "record.json")["settings"] == read_json(online.out / "record.json")["settings"]


def test_an_audit_with_gaps(tmp_path: Path, server: BatchServer) -> None:
    """Graders are asked about the pairs that are complete, while a response is still to come."""
    plan = audit_of(tmp_path, server)
    write(plan.out, stages_of_audit(plan))
    server.set(faults={"2": "missing"})
    round_trip(plan.out)
    server.set(faults={})
    some = write(plan.out, stages_of_audit(plan))
    assert (some.waiting, some.in_ledger) == (1, 7)
    round_trip(plan.out)
    rest = write(plan.out, stages_of_audit(plan))
    assert (rest.waiting, rest.in_ledger, rest.requests) == (0, 8 + some.requests, 4)
    round_trip(plan.out)
    result = audit(plan)
    again = audit(audit_of(tmp_path, server, out=tmp_path / "online"))
    assert (result.calls, again.calls) == (0, 8 + some.requests + 4)
    assert again.summary.as_json() == result.summary.as_json()


FAULTS = {
    "0": "missing",
    "1": "duplicate",
    "2": "429",
    "3": "500",
    "4": "failed before",
    "5": "content_filter",
    "6": "overflow",
    "7": "other",
    "8": "400",
    "9": "no_probabilities",
}


def test_lines_that_are_shuffled_missing_duplicated_and_failed(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    keys = asked_keys(plan.out)
    server.set(faults=FAULTS, strangers=2, garbage=3)
    found = round_trip(plan.out)
    assert found.total.counts() == {
        "replies": 24 - 7,
        "missing": 1,
        "duplicates": 3,
        "unknown": 2,
        "unreadable": 3,
        "again_rate_limit": 1,
        "again_server": 1,
        "refused_refused": 1,
        "refused_overflow": 1,
        "refused_access": 2,
    }
    with Ledger(plan.out / "ledger.sqlite") as ledger:
        assert ledger.count() == 17
        kinds = [failure.kind if (failure := ledger.last_failure(key)) else "" for key in keys[:10]]
        other = ledger.find(keys[7])
    assert kinds == ["", "", "", "", "", "transport", "overflow", "", "transport", "transport"]
    assert other is not None
    again = Manifest(plan.out).at(FileState.WRITTEN)
    assert [(file.requests, file.attempt) for file in again] == [(3, 2)]
    assert asked_keys(plan.out) == [keys[0], keys[2], keys[3]]
    server.set(faults={}, strangers=0, garbage=0)
    assert round_trip(plan.out).total.counts() == {"replies": 3}
    after = wrote(plan)
    assert (after.requests, after.refused, after.in_ledger) == (0, 4, 20)
    retried = wrote(plan, retry_refused=True)
    assert (retried.requests, retried.refused) == (4, 0)
    round_trip(plan.out)
    with Ledger(plan.out / "ledger.sqlite") as ledger:
        assert ledger.count() == 24
    assert rate(plan).calls == 0
    with Ledger(plan.out / "ledger.sqlite") as ledger:
        tries = dict(ledger._db.execute("SELECT key, tries FROM replies"))
    assert [tries[keys[place]] for place in (0, 1, 2, 3, 4)] == [2, 1, 2, 2, 1]


def asked_keys(run: Path) -> list[str]:
    """Return the keys in the files that are not submitted, in their order."""
    from evenhand.execution.batch import keys_of

    manifest = Manifest(run)
    return [key for file in manifest.at(FileState.WRITTEN) for key in keys_of(manifest.requests_of(file))]


def test_to_collect_twice_changes_nothing(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    server.set(faults=FAULTS)
    round_trip(plan.out)
    before = everything_in(plan.out)
    again = collect(plan.out, patience=QUICK)
    assert (again.files, again.total.counts(), again.to_submit) == ((), {}, 1)
    assert everything_in(plan.out) == before


def test_a_collection_that_was_cut_off_is_made_again(tmp_path: Path, server: BatchServer) -> None:
    """Replies were kept, and then the process was killed before the manifest said so."""
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    server.set(faults=FAULTS)
    submit(plan.out, patience=QUICK)
    manifest = Manifest(plan.out)
    before = {path: path.read_bytes() for path in manifest.folder.glob("*.json*")}
    first = collect(plan.out, patience=QUICK)
    with Ledger(plan.out / "ledger.sqlite") as ledger:
        kept = list(ledger._db.execute("SELECT * FROM replies")), list(ledger._db.execute("SELECT * FROM failures"))
    for path, data in before.items():
        path.write_bytes(data)
    second = collect(plan.out, patience=QUICK)
    assert second.total.counts() == first.total.counts()
    with Ledger(plan.out / "ledger.sqlite") as ledger:
        assert kept == (
            list(ledger._db.execute("SELECT * FROM replies")),
            list(ledger._db.execute("SELECT * FROM failures")),
        )
    assert len(Manifest(plan.out).at(FileState.WRITTEN)) == 1


def test_an_expired_batch_with_partial_output(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    server.set(status="expired", faults={str(place): "batch_expired" for place in range(5, 24)} | {"4": "missing"})
    found = round_trip(plan.out)
    assert found.total.counts() == {"replies": 4, "missing": 1, "again_not_run": 19}
    assert Manifest(plan.out).files[0].status == "expired"
    server.set(status="completed", faults={})
    assert round_trip(plan.out).total.counts() == {"replies": 20}
    assert rate(plan).calls == 0


def test_what_goes_again_goes_in_few_files(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    written = wrote(plan, limits=BatchLimits(requests=6))
    assert [file.requests for file in written.files] == [6, 6, 6, 6]
    server.set(faults={"0": "missing", "1": "500"})
    round_trip(plan.out, requests=6)
    assert [(file.name, file.requests) for file in Manifest(plan.out).at(FileState.WRITTEN)] == [
        ("0007.jsonl", 6),
        ("0008.jsonl", 2),
    ]
    server.set(faults={})
    assert round_trip(plan.out).total.replies == 8
    assert rate(plan).calls == 0


def test_what_is_in_a_file_is_not_written_again(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server, count=2)
    first = wrote(plan)
    more = rate_plan(tmp_path, server, count=3)
    second = wrote(more)
    assert (first.requests, second.requests) == (16, 4 + 4)
    assert second.waiting + second.requests == 12 + 8
    submit(plan.out, limit=1, patience=QUICK)
    third = wrote(more, anew=True)
    assert (third.dropped, third.requests, third.waiting) == (1, 8, 12)
    assert [file.state for file in Manifest(plan.out).files] == ["submitted", "written"]


def test_a_dry_run_writes_nothing_and_tells_the_price_of_batches(tmp_path: Path, server: BatchServer) -> None:
    models = settings(tmp_path, server, "price = { input = 2.0, output = 8.0 }")
    plan = rate_plan(tmp_path, server, models=models)
    found = wrote(plan, dry_run=True)
    assert not plan.out.exists()
    from evenhand.studies.rate import forecast_rate

    online = forecast_rate(plan)
    assert found.requests == online.calls
    assert found.forecast.cost == pytest.approx((online.cost or 0) / 2)
    less = settings(tmp_path, server, "price = { input = 2.0, output = 8.0 }\nbatch_discount = 0.25")
    assert wrote(rate_plan(tmp_path, server, models=less), dry_run=True).forecast.cost == pytest.approx(
        (online.cost or 0) * 0.75
    )


def test_no_more_is_written_than_may_be_paid(tmp_path: Path, server: BatchServer) -> None:
    from evenhand.errors import EvenhandError

    plan = rate_plan(tmp_path, server)
    with pytest.raises(EvenhandError, match="--max-cost: can't be kept: the price of"):
        wrote(plan, max_cost=1.0)
    plan = rate_plan(tmp_path, server, models=settings(tmp_path, server, "price = { input = 2.0, output = 8.0 }"))
    with pytest.raises(EvenhandError, match="none was written"):
        wrote(plan, max_cost=0.0001)
    assert not (plan.out / "batches" / "manifest.json").exists()
    assert wrote(plan, max_cost=1.0).requests == 24


def test_other_settings_are_told(tmp_path: Path, server: BatchServer) -> None:
    models = settings(tmp_path, server, "thinking_tokens = 10")
    plan = rate_plan(tmp_path, server, models=models)
    wrote(plan)
    stopped = submit(plan.out, patience=QUICK).stopped
    assert "--models: 0001.jsonl was written with other settings" in str(stopped)
    assert submit(plan.out, models, patience=QUICK).stopped is None
    assert "other settings" in collect(plan.out, patience=QUICK).problems[0]
    assert collect(plan.out, models, patience=QUICK).total.replies == 24


def test_a_batch_that_is_turned_down_as_a_whole(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    server.set(status="failed", errors=[{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}])
    found = round_trip(plan.out)
    assert (found.to_submit, len(found.rejected)) == (1, 1)
    assert "Enqueued token limit" in found.rejected[0][1]
    assert wrote(plan).requests == 0, "it waits as it is"
    server.set(status="failed", errors=[{"code": "invalid_url", "message": "No such endpoint."}])
    found = round_trip(plan.out)
    assert (found.to_submit, found.rejected[0][1]) == (0, "invalid_url: No such endpoint.")
    server.set(status="completed")
    assert wrote(plan).requests == 24
    assert round_trip(plan.out).total.replies == 24


def test_a_batch_under_way_is_left_alone(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    wrote(plan)
    server.set(status="in_progress")
    found = round_trip(plan.out)
    assert (found.files, found.under_way) == ((), 1)
    server.set(status="completed")
    assert collect(plan.out, patience=QUICK).total.replies == 24


def test_the_key_is_nowhere(tmp_path: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Though the server says it in every line and in errors."""
    plan = rate_plan(tmp_path, server)
    server.set(faults=FAULTS | {"0": "401"}, strangers=1, garbage=1, echo=True)
    arguments = ("--questions", plan.questions, "--grader", server.name, "--leak-sample", "2", "--out", plan.out)
    log = tmp_path / "log.jsonl"
    told = ""
    for command in (
        ("batch", "write", "rate", plan.pairs, *arguments, "--log", log),
        ("batch", "submit", plan.out, "--log", log),
        ("batch", "status", plan.out),
        ("batch", "status", plan.out, "--json"),
        ("batch", "collect", plan.out, "--log", log),
        ("batch", "collect", plan.out, "--json"),
    ):
        code, text = said(capsys, *command)
        assert code == 0, text
        told += text
        assert holding(tmp_path, CANARY) == []
    assert "the key is wrong" in " ".join(told.split())
    server.set(key="another")
    code, text = said(capsys, "batch", "submit", plan.out)
    assert code == 1
    assert "answered 401" in text
    assert "EVENHAND_API_KEY" in text
    assert CANARY in server.seen()["keys"]
    assert CANARY not in told + text
    assert holding(tmp_path, CANARY) == []


def test_a_model_on_this_machine_is_asked_at_once(
    tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no batch API, and costs nothing."""
    from conftest import ScriptedModel
    from evenhand.models import Model, ModelRole, open_model
    from evenhand.readings import Reply
    from evenhand.studies.audit import run as audit_run

    subject = ScriptedModel(lambda request: Reply("Gladly.", "stop", "m"), name="subject", local=True)

    def found(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return subject if name == "subject" else open_model(name, role)

    monkeypatch.setattr(audit_run, "open_model", found)
    plan = audit_of(tmp_path, server, subject="subject")
    dry = write(plan.out, stages_of_audit(plan), WriteOptions(dry_run=True))
    assert (subject.asked, dry.requests) == ([], 8)
    written = write(plan.out, stages_of_audit(plan))
    assert (len(subject.asked), written.asked_here) == (8, 8)
    assert written.requests > 8
    round_trip(plan.out)
    assert audit(plan).calls == 0


def test_a_model_without_batch_files_is_told(
    tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conftest import ScriptedModel
    from evenhand.models import Model, ModelRole
    from evenhand.studies.rate import run as rate_run

    far = ScriptedModel(lambda request: RuntimeError("nobody asks"), name="inspect:far/away")

    def found(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return far

    monkeypatch.setattr(rate_run, "open_model", found)
    written = wrote(rate_plan(tmp_path, server, graders=("inspect:far/away",)))
    assert written.elsewhere == {"inspect:far/away": 24}
    assert (written.files, far.asked) == ((), [])


def test_the_server_is_asked_for_what_it_is_called(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server, count=1)
    wrote(plan)
    submit(plan.out, patience=QUICK)
    seen = server.seen()
    assert seen["names"] == ["0001.jsonl"]
    assert f'"model":"{MODEL}"' in seen["files"]["file-0"]
    assert seen["batches"][0]["metadata"]["evenhand"] == Manifest(plan.out).files[0].mark
