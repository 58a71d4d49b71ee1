"""A fitted grader: features of request and answer, weighed."""

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.graders.fitted.features import BITS, Floats, views, weighed
from evenhand.graders.fitted.grader_card import FittedCard
from evenhand.graders.fitted.question_part import LogOdds
from evenhand.statistics.logistic import sigmoid

BUILTIN_GRADERS = ("refusal", "hedging")
"""The fitted graders that ship with the package, as in ``fitted:refusal``."""

_PREFIX = "fitted:"
_MOST_MARGIN = 30.0
_AT_ONCE = 64
"""Answers whose n-grams are looked up together."""
_TOO_LARGE = 64 << 20
_QUESTIONS = "questions_sha256"


@dataclass(frozen=True, slots=True)
class FittedGrader:
    """Gives the probability of its label for a request and an answer."""

    card: FittedCard
    _table: npt.NDArray[np.float32]

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """Load a grader.

        Args:
            name: ``fitted:refusal`` or another that ships with the package, or the path of the card (``X.json``, with
                its weights ``X.npz`` beside it).

        Raises:
            InputError: there is no such grader; or a file is missing, damaged, or not the one that belongs to the card.
        """
        text = str(name)
        if text.startswith(_PREFIX):
            known = text.removeprefix(_PREFIX)
            if known not in BUILTIN_GRADERS:
                raise InputError(
                    f"there is no fitted grader {text!r}",
                    way_out=f"use {', '.join(_PREFIX + each for each in BUILTIN_GRADERS)}, or the path of a card",
                )
            folder = resources.files("evenhand.graders.fitted") / "data"
            card, weights = ((folder / f"{known}.{ending}").read_bytes() for ending in ("json", "npz"))
            return cls._put_together(card, weights, text)
        path = Path(name)
        if path.suffix != ".json":
            raise InputError("is no card of a fitted grader", source=text, way_out="name its .json file")
        beside = path.with_suffix(".npz")
        for file in (path, beside):
            if not file.is_file():
                raise InputError(
                    "there is no such file", source=str(file), way_out="a fitted grader is X.json with X.npz beside it"
                )
        return cls._put_together(path.read_bytes(), beside.read_bytes(), text)

    @classmethod
    def _put_together(cls, card_bytes: bytes, weights: bytes, source: str) -> Self:
        way_out = "fit it again with `evenhand fit-grader`, or copy both of its files"
        try:
            card = FittedCard.from_json(json.loads(card_bytes))
        except (KeyError, TypeError, ValueError, InputError) as error:
            raise InputError(f"is no card of a fitted grader ({error})", source=source, way_out=way_out) from error
        found = hashlib.sha256(weights).hexdigest()
        if found != card.weights_sha256:
            raise InputError(
                f"the weights are not those of the card: SHA-256 {found}, not {card.weights_sha256}",
                source=source,
                way_out=way_out,
            )
        table, questions_sha256 = unpacked(weights, source), questions_of(weights)
        if questions_sha256 != (card.questions.sha256 if card.questions else ""):
            raise InputError("the questions are not those of its weights", source=source, way_out=way_out)
        return cls(card, table)

    def probabilities(
        self, prompts: Sequence[str], responses: Sequence[str], log_odds: LogOdds | None = None
    ) -> Floats:
        """Return the probability of the label of each answer, above 0 and below 1, shape (answers,).

        Args:
            prompts: what was asked.
            responses: the answers.
            log_odds: what the model of the card's questions says of them, where the card has questions. Where it could
                not be read, the probability is NaN.

        Raises:
            InputError: the card has questions, and nobody was asked them.
        """
        part = self.card.questions
        if len(prompts) != len(responses) or (log_odds is not None and len(log_odds.values) != len(responses)):
            raise ValueError(f"{len(prompts)} prompts and {len(responses)} responses")
        if part is not None and log_odds is None:
            raise InputError(
                f"asks {len(part.questions)} questions of {part.model}, and no model can be asked here",
                source=self.card.name,
                way_out="use it in `evenhand audit`, `regrade` or `validate`, or take a grader without questions",
            )
        margins = [
            self._margins(prompts[start : start + _AT_ONCE], responses[start : start + _AT_ONCE])
            for start in range(0, len(prompts), _AT_ONCE)
        ]
        total = np.concatenate([np.empty(0), *margins])
        if part is not None and log_odds is not None:
            total += part.margins(log_odds.values)
        # Beyond this a probability is 0 or 1 to any reader, and its logarithm would no longer be finite.
        return sigmoid(np.clip(total, -_MOST_MARGIN, _MOST_MARGIN))

    def verdicts(self, prompts: Sequence[str], responses: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return whether the label holds of each answer at the card's threshold."""
        return self.probabilities(prompts, responses) > self.card.threshold

    def _margins(self, prompts: Sequence[str], responses: Sequence[str]) -> Floats:
        blocks = self.card.blocks
        seen = [views(prompt, response, blocks) for prompt, response in zip(prompts, responses, strict=True)]
        total = np.full(len(seen), self.card.intercept)
        # One after the other, so that an answer's sum does not hang on how many stand beside it.
        for block in blocks:
            total += weighed(seen, block, self._table)
        return total


def packed(buckets: npt.NDArray[np.int64], weights: Floats, questions_sha256: str = "") -> bytes:
    """Return weights as the bytes of an npz file, the same for the same weights.

    Buckets are kept as steps from one to the next, weights in half precision. The weights of questions stand in the
    card; the file holds their hash, so that its own is that of all.
    """
    arrays: dict[str, npt.NDArray[Any]] = {
        "steps": np.diff(buckets, prepend=0).astype(np.uint32),
        "weights": weights.astype(np.float16),
    }
    if questions_sha256:
        arrays[_QUESTIONS] = np.frombuffer(bytes.fromhex(questions_sha256), dtype=np.uint8)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            inner = io.BytesIO()
            np.lib.format.write_array(inner, array, allow_pickle=False)
            # A fixed date, so that the hash is that of the weights and not of the day.
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), inner.getvalue(), zipfile.ZIP_DEFLATED
            )
    return written.getvalue()


def unpacked(content: bytes, source: str = "") -> npt.NDArray[np.float32]:
    """Return the table of weights, one a bucket, of an npz file's bytes; raises ``InputError`` for another file."""
    table = np.zeros(1 << BITS, dtype=np.float32)
    try:
        buckets, weights = _arrays(content)
        table[buckets] = weights
    except (ValueError, KeyError, IndexError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"are no weights of a fitted grader ({error})",
            source=source,
            way_out="fit it again, or copy both of its files",
        ) from error
    return table


def questions_of(content: bytes) -> str:
    """Return the hash (hex) of the questions that the weights of an npz file's bytes belong to; empty for none."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        if _QUESTIONS not in arrays.files:
            return ""
        try:
            return bytes(arrays[_QUESTIONS].astype(np.uint8)).hex()
        except ValueError:
            return "not to be read"


def _arrays(content: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > _TOO_LARGE:
            raise ValueError("far larger than weights can be")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        buckets = np.cumsum(arrays["steps"].astype(np.int64))
        weights = arrays["weights"].astype(np.float32)
    if buckets.shape != weights.shape or weights.ndim != 1 or not np.isfinite(weights).all() or (buckets < 0).any():
        raise ValueError("arrays that don't belong together")
    return buckets, weights
