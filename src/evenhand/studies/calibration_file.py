"""A calibration as a file, and applied to judgments."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.graders import Judgment
from evenhand.graders.fitted.judging import FITTED
from evenhand.readings import State
from evenhand.report.calibration import CALIBRATION_SCHEMA, Calibration, MeasureCalibration
from evenhand.report.plain_values import from_plain
from evenhand.report.validity_card import ValidityCard, card_line
from evenhand.statistics.detection import SAME

PACKAGED = "packaged:"
"""How the name of a calibration begins that comes with the package; the grader's name follows."""
_WAY_OUT = "make it with `evenhand validate --calibrate FILE`"


def write_calibration(path: Path, calibration: Calibration, cards: Sequence[ValidityCard] = ()) -> Calibration:
    """Write a calibration with the cards of labels that it was not fitted to; return it with the file's hash."""
    calibration = replace(calibration, lines=tuple(card_line(card) for card in cards))
    numbers = calibration.as_json()
    numbers.pop("sha256")
    values = {"calibration": numbers, "cards": [card.as_json() for card in cards]}
    # Through JSON once: a tuple becomes a list here, and not only in the file.
    RunFolder(path.parent).write_json(path.name, json.loads(json.dumps(values)))
    return replace(calibration, sha256=_sha256(path))


def read_calibration(path: Path) -> Calibration:
    """Return the calibration in a file, with the file's hash; raises ``InputError``.

    ``packaged:GRADER`` is the one that comes with the package.
    """
    data = _bytes(path)
    found = _values(path, data).get("calibration")
    if not isinstance(found, dict) or not found.get("measures"):
        raise InputError("is no calibration", source=str(path), way_out=_WAY_OUT)
    if found.get("schema") != CALIBRATION_SCHEMA:
        raise InputError(
            f"was written by another version (schema {found.get('schema')})", source=str(path), way_out=_WAY_OUT
        )
    try:
        return from_plain(Calibration, {**found, "sha256": hashlib.sha256(data).hexdigest()})
    except InputError as error:
        raise InputError(error.problem, source=str(path), field=error.field, way_out=_WAY_OUT) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"is damaged ({error})", source=str(path), way_out=_WAY_OUT) from error


def calibration_cards(path: Path) -> tuple[ValidityCard, ...]:
    """Return the cards in a calibration's file."""
    return tuple(ValidityCard.from_json(card) for card in _values(path, _bytes(path)).get("cards", ()))


def packaged_calibrations() -> tuple[str, ...]:
    """Return the graders with a calibration that comes with the package."""
    return tuple(sorted(file.name.removesuffix(".json") for file in _packaged().iterdir() if ".json" in file.name))


def check_calibration(
    calibration: Calibration, *, grader: str, identity: str, measure: str, versions: Mapping[str, str]
) -> MeasureCalibration | None:
    """Return what a calibration says of a measure, None where it says nothing.

    Raises ``InputError`` where it was fitted for another grader or for another wording.
    """
    if identity != calibration.identity:
        problem = f"was fitted for {calibration.grader}, and not for {grader} as it is reached here"
        if grader == calibration.grader and identity.startswith(f"{FITTED} "):
            then, now = _weights(calibration.identity), _weights(identity)
            problem = f"was fitted for {grader} with other weights: {then}, and those here are {now}"
        raise InputError(
            problem,
            source=calibration.name,
            field="--calibration",
            way_out="fit one for this grader: `evenhand validate --calibrate FILE`",
        )
    found = calibration.of(measure)
    if found is not None and any(versions.get(name) != version for name, version in found.versions.items()):
        raise InputError(
            f"was fitted for another wording of {measure}",
            source=calibration.name,
            field="--calibration",
            way_out="use the instruments that it was fitted for, or fit one anew",
        )
    return found


def _weights(identity: str) -> str:
    """Return the weights that the identity of fitted graders names, short enough to be read.

    >>> _weights("fitted refusal 92fe72d9d6ac4438; fitted hedging 9a422d2175b61001")
    'refusal 92fe72d9d6ac and hedging 9a422d2175b6'
    """
    parts = [part.removeprefix(f"{FITTED} ").rpartition(" ") for part in identity.split("; ")]
    return " and ".join(f"{name} {weights[:12]}" for name, _, weights in parts)


def check_calibrations(
    calibrations: Sequence[Calibration], gradings: Sequence[Mapping[str, Any]], positive: Collection[str] = ()
) -> None:
    """Raise ``InputError`` where a calibration speaks of no grading of a run, or of another wording.

    Args:
        calibrations: to be applied.
        gradings: what a record says of each grader and its instruments: ``grader`` with name and identity,
            ``instruments`` with ``versions``.
        positive: the measures of which the user says what counts, which a calibration has settled.
    """
    for calibration in calibrations:
        of_it = [one for one in gradings if one["grader"]["name"] == calibration.grader]
        if not of_it:
            raise InputError(
                f"was fitted for {calibration.grader}, which is no grader of this run",
                source=calibration.name,
                field="--calibration",
                way_out="leave it away, or fit one for this grader",
            )
        for grading in of_it:
            for one in calibration.measures:
                check_calibration(
                    calibration,
                    grader=calibration.grader,
                    identity=grading["grader"]["identity"],
                    measure=one.measure,
                    versions=grading["instruments"]["versions"],
                )
        both = sorted(set(positive) & {one.measure for one in calibration.measures})
        if both:
            raise InputError(
                f"says what counts as {both[0]}, and so does the calibration {calibration.name}",
                field="--positive",
                way_out="leave --positive or --calibration away",
            )


def calibrated(judgments: Sequence[Judgment], calibrations: Sequence[Calibration]) -> list[Judgment]:
    """Return judgments with the probabilities that a calibration makes of them, one half being its threshold.

    The positive labels' probabilities are multiplied by what brings their sum to the calibrated value, and so are the
    others'; judgments that no calibration speaks of stay as they are. Derived measures have to be derived anew. The
    judgments that a run keeps are the uncalibrated ones, so that a calibration can be taken back.
    """
    known = {
        (calibration.grader, name, version): one
        for calibration in calibrations
        for one in calibration.measures
        for name, version in one.versions.items()
        if name == one.measure
    }
    return [
        judgment
        if (one := known.get((judgment.grader, judgment.measure, judgment.version))) is None
        else _calibrated(judgment, one)
        for judgment in judgments
    ]


def _calibrated(judgment: Judgment, one: MeasureCalibration) -> Judgment:
    reading = judgment.reading
    if reading.state is not State.OK or judgment.positive is None:
        return judgment
    before = min(max(judgment.positive, 0.0), 1.0)
    after = float(one.centred(before))
    is_positive = [label in judgment.scale.positive for label in judgment.scale.labels]
    totals, wanted = {True: before, False: 1 - before}, {True: after, False: 1 - after}
    probabilities = tuple(
        # Where nothing was given to any label of a side there are no shares to keep.
        wanted[side] * p / totals[side] if totals[side] > SAME else wanted[side] / is_positive.count(side)
        for side, p in zip(is_positive, reading.probabilities, strict=True)
    )
    return replace(judgment, reading=replace(reading, probabilities=probabilities))


def _bytes(path: Path) -> bytes:
    try:
        if str(path) != "packaged" and not str(path).startswith(PACKAGED):
            return path.read_bytes()
        # Only names that are in the package: nothing of a name becomes part of a path.
        name = str(path).removeprefix(PACKAGED)
        if name not in packaged_calibrations():
            raise InputError(
                f"names no calibration that comes with the package: {path}",
                field="--calibration",
                way_out=f"use {', '.join(PACKAGED + known for known in packaged_calibrations())}, or a file's path",
            )
        return _packaged().joinpath(f"{name}.json").read_bytes()
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), field="--calibration", way_out=_WAY_OUT
        ) from error


def _packaged() -> Traversable:
    return resources.files("evenhand.report").joinpath("data", "calibrations")


def _values(path: Path, data: bytes) -> dict[str, Any]:
    try:
        values = json.loads(data)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(path), way_out=_WAY_OUT) from error
    if not isinstance(values, dict):
        raise InputError("is no calibration", source=str(path), way_out=_WAY_OUT)
    return values


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
