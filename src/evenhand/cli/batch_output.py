"""What the commands about batch files print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.cli.figures import printable
from evenhand.cli.json_output import print_json
from evenhand.cli.terminal import terminal
from evenhand.execution.batch import BatchFile, Tally
from evenhand.execution.forecast import Forecast
from evenhand.report.forecast_table import dollars, forecast_json, short
from evenhand.studies.batch import Cancelled, Collected, FileStatus, Submitted, Written

_KINDS = {
    "rate_limit": "asked too often",
    "server": "the provider's servers failed",
    "bad_reply": "what came is no reply",
    "not_run": "not come to before the batch ended",
    "access": "turned down for key, account, model or parameters",
    "refused": "refused",
    "overflow": "longer than the model's context",
}

_POSTPONED = (
    "For a limit, so these wait to be submitted again: {files}. Submit fewer at a time (--limit 1) once others have"
    " ended. Where one alone is too much, write smaller ones: `evenhand batch write` with --anew and --max-requests."
)


def show_written(found: Sequence[tuple[Path, Written]], out: Path, *, dry_run: bool, as_json: bool) -> None:
    """Print what was written, what it will cost, and what comes next."""
    if as_json:
        print_json({"written": not dry_run, "runs": [_written_json(run, written) for run, written in found]})
        return
    console = terminal()
    for run, written in found:
        if len(found) > 1:
            console.print(Text(printable(str(run)), style="bold"))
        if written.files:
            console.print(_files_table(written.files))
        _show_forecast(console, written.forecast, dry_run=dry_run)
        for line in _written_lines(written):
            console.print(line, markup=False)
    waits = any(written.files or written.waiting for _, written in found)
    if dry_run:
        console.print("Nothing was written.")
    elif waits:
        console.print(
            f"Next: evenhand batch submit {out}\nWhen it is done: evenhand batch collect {out}\n"
            "Then this command again: it writes what follows from the replies, and says when nothing is left.",
            markup=False,
            soft_wrap=True,
        )
    elif not any(written.refused or written.elsewhere for _, written in found):
        console.print("Every reply is in the ledger: the run itself, without `batch write`, calls no model.")


def show_submitted(found: Sequence[tuple[Path, Submitted]], folder: Path, *, as_json: bool) -> None:
    """Print what was submitted."""
    if as_json:
        print_json(
            {
                "runs": [
                    {
                        "run": str(run),
                        "submitted": [{"file": file.name, "batch": file.batch} for file in one.files],
                        "left": one.left,
                        "stopped": str(one.stopped) if one.stopped else None,
                    }
                    for run, one in found
                ]
            }
        )
        return
    console = terminal()
    for _, submitted in found:
        for file in submitted.files:
            console.print(
                Text(f"{file.name}: {_requests(file.requests)} to {printable(file.model)}, {printable(file.batch)}")
            )
    left = sum(submitted.left for _, submitted in found)
    sent = sum(len(submitted.files) for _, submitted in found)
    console.print(f"{_files(sent)} submitted" + (f", {_files(left)} still to be submitted." if left else "."))
    if sent:
        console.print(f"Next: evenhand batch status {folder}", markup=False, soft_wrap=True)


def show_status(found: Sequence[tuple[Path, Sequence[FileStatus]]], folder: Path, *, as_json: bool) -> None:
    """Print how far batches are."""
    if as_json:
        print_json({"runs": [{"run": str(run), "files": [one.as_json() for one in files]} for run, files in found]})
        return
    console = terminal()
    for run, files in found:
        if len(found) > 1:
            console.print(Text(printable(str(run)), style="bold"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("File", "Model", "Requests", "Status", "Done", "Failed", "Batch"):
            table.add_column(name, justify="right" if name in ("Requests", "Done", "Failed") else "left")
        for one in files:
            table.add_row(
                one.file.name,
                Text(printable(one.file.model)),
                f"{one.file.requests:,}",
                Text(printable(f"{one.status}, collected" if one.file.state == "collected" else one.status)),
                _number(one.counts, "completed"),
                _number(one.counts, "failed"),
                Text(printable(one.file.batch or "-")),
            )
        console.print(table)
        for one in files:
            if one.problem or one.file.note:
                console.print(Text(printable(f"{one.file.name}: {one.problem or one.file.note}")))
    if any(one.status in ("completed", "expired", "cancelled", "failed") and one.counts for _, f in found for one in f):
        console.print(f"Next: evenhand batch collect {folder}", markup=False, soft_wrap=True)


def show_cancelled(found: Sequence[tuple[Path, Cancelled]], folder: Path, *, as_json: bool) -> None:
    """Print which batches were cancelled."""
    if as_json:
        print_json({"runs": [_cancelled_json(run, one) for run, one in found]})
        return
    console = terminal()
    for _, one in found:
        for file in one.files:
            console.print(Text(printable(f"{file.name}: {file.batch} is {file.status}")))
        for file in one.ended:
            console.print(Text(printable(f"{file.name}: {file.batch} had ended before ({file.status})")))
        for file in one.not_submitted:
            console.print(Text(printable(f"{file.name}: not submitted; nothing to cancel")))
    cancelled = sum(len(one.files) for _, one in found)
    console.print(f"{cancelled:,} {'batch' if cancelled == 1 else 'batches'} cancelled.")
    if cancelled or any(one.ended for _, one in found):
        console.print(
            f"What was answered until then is paid for. Next, in some minutes: evenhand batch collect {folder}\nIt"
            " keeps those replies, and writes the rest into files that are sent only when they are submitted.",
            markup=False,
            soft_wrap=True,
        )


def show_collected(found: Sequence[tuple[Path, Collected]], folder: Path, *, as_json: bool) -> None:
    """Print what was collected."""
    if as_json:
        print_json({"runs": [_collected_json(run, collected) for run, collected in found]})
        return
    console = terminal()
    total = Tally()
    for _, collected in found:
        total.add(collected.total)
        for file, tally in collected.files:
            console.print(Text(f"{file.name}: {tally.replies:,} of {file.requests:,} replies"))
        for file, why in collected.rejected:
            console.print(Text(printable(f"{file.name}: the provider turned the whole file down: {why}")))
        if collected.postponed:
            console.print(_POSTPONED.format(files=", ".join(collected.postponed)), markup=False, soft_wrap=True)
    for line in _tally_lines(total):
        console.print(Text(printable(line)))
    under_way = sum(collected.under_way for _, collected in found)
    to_submit = sum(collected.to_submit for _, collected in found)
    if under_way:
        console.print(f"{under_way:,} {'batch has' if under_way == 1 else 'batches have'} not ended.")
    if to_submit:
        next_one = f"{_files(to_submit)} to submit. Next: evenhand batch submit {folder}"
        console.print(next_one, markup=False, soft_wrap=True)
    elif not under_way:
        console.print(
            "Nothing is under way. Next: the same `evenhand batch write` again, which says when nothing is left; then"
            " the run itself."
        )


def _written_json(run: Path, written: Written) -> dict[str, Any]:
    return {
        "run": str(run),
        "files": [_file_json(file) for file in written.files],
        "requests": written.requests,
        "forecast": forecast_json(written.forecast),
        "in_ledger": written.in_ledger,
        "waiting": written.waiting,
        "refused": written.refused,
        "asked_here": written.asked_here,
        "elsewhere": written.elsewhere,
        "dropped_files": written.dropped,
    }


def _cancelled_json(run: Path, one: Cancelled) -> dict[str, Any]:
    return {
        "run": str(run),
        "cancelled": [{"file": file.name, "batch": file.batch, "status": file.status} for file in one.files],
        "ended": [{"file": file.name, "batch": file.batch, "status": file.status} for file in one.ended],
        "not_submitted": [file.name for file in one.not_submitted],
        "problems": list(one.problems),
    }


def _collected_json(run: Path, collected: Collected) -> dict[str, Any]:
    return {
        "run": str(run),
        "files": [
            {"file": file.name, "batch": file.batch, "requests": file.requests, **tally.counts()}
            for file, tally in collected.files
        ],
        "reasons": collected.total.reasons,
        "under_way": collected.under_way,
        "to_submit": collected.to_submit,
        "rejected": {file.name: why for file, why in collected.rejected},
        "postponed": list(collected.postponed),
        "problems": list(collected.problems),
    }


def _file_json(file: BatchFile) -> dict[str, Any]:
    names = ("name", "model", "endpoint", "requests", "bytes", "sha256")
    return {name: getattr(file, name) for name in names}


def _files_table(files: Sequence[BatchFile]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("File", "Model", "Endpoint", "Requests", "MB"):
        table.add_column(name, justify="right" if name in ("Requests", "MB") else "left")
    for file in files:
        row = (file.name, Text(printable(file.model)), file.endpoint, f"{file.requests:,}", f"{file.bytes / 1e6:,.2f}")
        table.add_row(*row)
    return table


def _show_forecast(console: Console, forecast: Forecast, *, dry_run: bool) -> None:
    if not forecast.calls:
        return
    stages = [stage for stage in forecast.stages if stage.calls]
    tokens_in, tokens_out = sum(stage.tokens_in for stage in stages), sum(stage.tokens_out for stage in stages)
    cost = (
        f"{dollars(forecast.cost)} expected, {dollars(forecast.most_cost)} at most, at the price of batches"
        if forecast.cost is not None
        else f"cost unknown: the price of {printable(', '.join(forecast.unpriced))} is not known"
    )
    console.print(
        f"{'to be written' if dry_run else 'written'}: {_requests(forecast.calls)}, {short(tokens_in)} tokens in,"
        f" {short(tokens_out)} out; {cost}.",
        markup=False,
    )


def _written_lines(written: Written) -> list[str]:
    lines = [f"in the ledger: {written.in_ledger:,}"] if written.in_ledger else []
    if written.dropped:
        lines.append(f"dropped, not submitted: {_files(written.dropped)}")
    if written.waiting:
        lines.append(f"in earlier files that were not collected yet: {written.waiting:,}")
    if written.refused:
        lines.append(f"refused by the provider and left out: {written.refused:,} (--retry-refused writes them)")
    if written.asked_here:
        lines.append(f"asked of models on this machine at once: {written.asked_here:,}")
    lines += [
        f"for {printable(name)}, which has no batch API and is asked by the run itself: {count:,}"
        for name, count in written.elsewhere.items()
    ]
    return lines


def _tally_lines(total: Tally) -> list[str]:
    lines = [f"replies put into the ledger: {total.replies:,}"] if total.replies else []
    counted = (
        (total.missing, "without a line, to be sent again"),
        (total.known, "without a reply here, but in the ledger from elsewhere"),
        (total.duplicates, "duplicate lines, the first reply of each request counted"),
        (total.unknown, "lines of requests that are not in the file"),
        (total.unreadable, "lines that can't be read"),
    )
    lines += [f"{what}: {count:,}" for count, what in counted if count]
    for counts, end in ((total.again, "to be sent again"), (total.refused, "noted as failed, not sent again")):
        for kind, count in sorted(counts.items()):
            lines.append(f"{_KINDS.get(kind, kind)}: {count:,} {end} (the first: {total.reasons.get(kind, '')})")
    return lines


def _number(counts: dict[str, int], name: str) -> str:
    return f"{counts[name]:,}" if name in counts else "-"


def _requests(count: int) -> str:
    return f"{count:,} {'request' if count == 1 else 'requests'}"


def _files(count: int) -> str:
    return f"{count:,} {'file' if count == 1 else 'files'}"
