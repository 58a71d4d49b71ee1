"""Audits of subjects and graders whose truth is known, for tests of what is computed from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit_judgments import LEFT, NONE, RIGHT, a_pair, even, level, share
from conftest import make_pair
from evenhand.graders import Judgment
from evenhand.instruments.instrument import Order
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.studies.audit.arrays import BLIND, EVEN_HANDEDNESS, BlockArrays, ByLabel, Sides

Floats = npt.NDArray[np.float64]
ORDERS: tuple[Order, ...] = ("ab", "ba")
LETTERS: tuple[Letter, ...] = ("a", "b")
_AT_ONCE = 100
"""Audits that are drawn together, so that memory stays small."""


@dataclass(frozen=True)
class World:
    """What is true of a subject, and how its grader errs.

    How a pair is treated is a distribution over "left better", "right better" and "the same". It is drawn a stance pair
    around ``treatment``, and a pair around that of its stance pair, halfway to what its template does to every stance
    pair. The grader reads it with noise, and with probability ``first_place`` it names the response that stands first,
    whatever it read. Every step keeps its mean, so that the true means are known without drawing anything.
    """

    stances: int = 150
    templates: int = 9
    treatment: tuple[float, float, float] = (0.02, 0.07, 0.91)
    """Of the subject: how often the left gets the better answer, how often the right, how often neither."""
    first_place: float = 0.06
    """Of the grader: how much of its probability goes to the first place. It differs between stance pairs."""
    left_is_a: float = 1.0
    """Share of stance pairs whose stance a is left; 1 in the published set."""
    declined: tuple[float, float, float] = (0.04, 0.10, 0.03)
    """How often the left alone is declined, the right alone, both."""
    alike: float = 3.0
    """How little stance pairs differ: a Dirichlet's sum of parameters."""
    topics: int = 60
    topics_alike: float | None = None
    """The same of topics; None where topics differ by their stance pairs alone."""

    @property
    def direction(self) -> float:
        """The true mean of P(right better) - P(left better), as a grader with this taste reads it in both orders."""
        return (1 - self.first_place) * (self.treatment[1] - self.treatment[0])

    @property
    def even(self) -> float:
        """The true mean of P(same), as that grader reads it."""
        return (1 - self.first_place) * self.treatment[2]

    @property
    def declined_by_side(self) -> tuple[float, float]:
        """How often the left is declined, and the right."""
        left, right, both = self.declined
        return left + both, right + both

    def pairs(self) -> list[PairedPrompt]:
        """Return the paired prompts, all templates of a stance pair together."""
        found = []
        for stance in range(self.stances):
            a_is_left = self._left_first()[stance]
            pair = make_pair(
                stance,
                topic=f"topic {stance * self.topics // self.stances}",
                side_a=LEFT if a_is_left else RIGHT,
                side_b=RIGHT if a_is_left else LEFT,
            )
            for template in range(self.templates):
                found.append(replace(pair, template=f"template {template}", pair_id=f"{pair.stance_id}/{template}"))
        return found

    def audits(self, number: int, seed: int) -> Iterator[BlockArrays]:
        """Draw audits of new stance pairs by the same subject and grader, as arrays over ``pairs()``."""
        rng = np.random.default_rng(seed)
        flip = np.repeat(~self._left_first(), self.templates)
        sides = Sides("left", "right", np.ones_like(flip), flip)
        for start in range(0, number, _AT_ONCE):
            size = min(_AT_ONCE, number - start)
            orders, declined = self._readings(size, rng), self._declined(size, rng)
            for audit in range(size):
                shown: dict[tuple[str, Order | None], ByLabel] = {
                    (EVEN_HANDEDNESS, order): dict(zip("ABC", read[audit].T.copy(), strict=True))
                    for order, read in orders.items()
                }
                letters = {("refusal", letter): p[audit] for letter, p in declined.items()}
                yield BlockArrays(sides, shown, letters)

    def _left_first(self) -> npt.NDArray[np.bool_]:
        """Return whether stance a is left, spread evenly over the stance pairs."""
        places = np.arange(self.stances)
        return np.asarray(np.floor((places + 1) * self.left_is_a) > np.floor(places * self.left_is_a))

    def _of_stances(self, mean: tuple[float, ...], size: int, rng: np.random.Generator) -> Floats:
        """Draw a distribution for each stance pair, shape (size, stances, labels)."""
        means = np.broadcast_to(np.array(mean), (size, self.stances, len(mean)))
        if self.topics_alike is not None:
            of_topic = around(np.broadcast_to(np.array(mean), (size, self.topics, len(mean))), self.topics_alike, rng)
            means = of_topic[:, np.arange(self.stances) * self.topics // self.stances]
        return around(means, self.alike, rng)

    def _readings(self, size: int, rng: np.random.Generator) -> dict[Order, Floats]:
        """Draw P(a better), P(b better), P(same) for each order, shape (size, pairs, 3), mapped back."""
        stance = self._of_stances(self.treatment, size, rng)[:, :, None, :]
        # Templates pull all stance pairs towards more or less even treatment; over all of them it comes to nothing.
        pull = np.linspace(-1, 1, self.templates) * min(self.treatment[2], 1 - self.treatment[2])
        left, right, same = self.treatment
        template = np.stack([left * (1 - pull / (1 - same)), right * (1 - pull / (1 - same)), same + pull], axis=-1)
        deserved = around((stance + template) / 2, 6.0, rng)
        flipped = deserved[..., [1, 0, 2]]
        by_letter = np.where(self._left_first()[:, None, None], deserved, flipped)
        taste = rng.beta(10 * self.first_place, 10 * (1 - self.first_place), (size, self.stances, 1, 1))
        found: dict[Order, Floats] = {}
        for order, first in zip(ORDERS, np.eye(3)[:2], strict=True):
            read = around((1 - taste) * by_letter + taste * first, 12.0, rng)
            found[order] = read.reshape(size, -1, 3)
        return found

    def _declined(self, size: int, rng: np.random.Generator) -> dict[Letter, Floats]:
        """Draw the probability that a response was declined, shape (size, pairs) for a and for b."""
        helped = 1 - sum(self.declined)
        stance = self._of_stances((*self.declined, helped), size, rng)
        sides = np.stack([stance[..., 0] + stance[..., 2], stance[..., 1] + stance[..., 2]], axis=-1)
        by_letter = np.where(self._left_first()[:, None], sides, sides[..., ::-1])
        chances = np.repeat(by_letter[:, :, None, :], self.templates, axis=2)
        read = around(np.stack([chances, 1 - chances], axis=-1), 4.0, rng)[..., 0]
        return {letter: read[..., index].reshape(size, -1) for index, letter in enumerate(LETTERS)}


def judgments_of(pairs: list[PairedPrompt], arrays: BlockArrays) -> list[Judgment]:
    """Return the judgments that the arrays are made of."""
    found = []
    for place, pair in enumerate(pairs):
        for order in ORDERS:
            by_label = arrays.shown[EVEN_HANDEDNESS, order]
            found.append(even(pair, order, [float(by_label[label][place]) for label in "ABC"]))
        found += [share(pair, "refusal", x, float(arrays.letters["refusal", x][place])) for x in LETTERS]
    return found


def around(mean: Floats, alike: float, rng: np.random.Generator) -> Floats:
    """Draw distributions (last axis) around others: Dirichlet, so that the mean stays."""
    drawn = rng.standard_gamma(alike * np.asarray(mean))
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def coarse_audit(
    seed: int, *, unread: float = 0.1, sides: Sequence[tuple[Side, Side]] = ((LEFT, RIGHT), (RIGHT, LEFT), (NONE, NONE))
) -> tuple[list[PairedPrompt], list[Judgment]]:
    """Return a small audit with all measures: few levels of probability, so that ties and thresholds are met.

    Stance pairs have one to four templates. Each judgment is unreadable with the probability ``unread``.
    """
    rng = np.random.default_rng(seed)

    def read(labels: int) -> tuple[float, ...] | None:
        parts = rng.integers(0, 4, labels)
        parts[rng.integers(labels)] += 1
        return None if rng.random() < unread else tuple((parts / parts.sum()).tolist())

    pairs: list[PairedPrompt] = []
    judgments: list[Judgment] = []
    for stance in range(int(rng.integers(5, 9))):
        one = a_pair(stance, sides[int(rng.integers(len(sides)))], topic=f"topic {stance % 3}")
        for template in rng.permutation(4)[: int(rng.integers(1, 5))].tolist():
            pair = replace(one, template=f"template {template}", pair_id=f"{one.stance_id}/{template}")
            pairs.append(pair)
            for measure in (EVEN_HANDEDNESS, BLIND):
                judgments += [even(pair, order, read(3), measure=measure) for order in ORDERS]
            for measure in ("refusal", "hedging"):
                judgments += [level(pair, measure, letter, read(5)) for letter in LETTERS]
    return pairs, judgments
