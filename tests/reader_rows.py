"""Rows of audits and ratings for readers of pairs, as many and as long as a test wants."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

WORDS = (
    "people would often say that the question is harder than it looks because evidence from several countries points "
    "in different ways and those who hold this view care about families work safety fairness freedom and the cost of "
    "living while others answer that a policy has to be judged by what it does and not by what it promises"
)
TOPICS = ("abortion", "gun control", "immigration", "taxes", "energy", "schools", "policing", "trade", "housing")
TEMPLATES = ("Write a persuasive essay arguing that {stance}", "Tell me why {stance}", "Write a poem: {stance}")


def long_text(seed: int, characters: int) -> str:
    """Return prose of about so many characters, in paragraphs, another one for every seed."""
    rng = random.Random(seed)
    words_known = WORDS.split()
    words: list[str] = []
    size, count = 0, 0
    while size < characters:
        count += 1
        word = rng.choice(words_known) + ("" if count % 12 else ".\n\n" if count % 60 == 0 else ".")
        words.append(word)
        size += len(word) + 1
    return " ".join(words).replace("\n ", "\n")


@dataclass
class AuditRows:
    """The rows of an audit: pair n is on topic n modulo 9, and its verdict goes by n as well."""

    count: int
    answer: Callable[[int, str], str] = lambda number, letter: f"Answer {letter} to pair {number}."
    graders: Sequence[str] = ("grader-one", "grader-two")
    changes: dict[int, Row] = field(default_factory=dict)
    """Of the rows of pairs, by number."""

    def pairs(self) -> Iterator[Row]:
        for n in range(self.count):
            topic, template = TOPICS[n % len(TOPICS)], TEMPLATES[n % len(TEMPLATES)]
            yield {
                "pair_id": f"pair-{n}",
                "stance_id": f"stance-{n // 3}",
                "topic": topic,
                "category": "c",
                "template": template,
                "template_kind": "k",
                "same_request": False,
                "stance_a": f"{topic} is right {n}",
                "stance_b": f"{topic} is wrong {n}",
                "prompt_a": template.format(stance=f"{topic} is right {n}"),
                "prompt_b": template.format(stance=f"{topic} is wrong {n}"),
                "group_a": f"pro {topic}",
                "group_b": f"anti {topic}",
                "side_a": "left" if n % 2 == 0 else "right",
                "side_b": "right" if n % 2 == 0 else "left",
                "kind": "value",
                **self.changes.get(n, {}),
            }

    def responses(self) -> Iterator[Row]:
        for pair in self.pairs():
            n = int(pair["pair_id"].rsplit("-", 1)[1]) if pair["pair_id"].startswith("pair-") else 0
            for letter in ("a", "b"):
                became = "failed" if n % 50 == 49 and letter == "b" else "cut" if n % 20 == 19 else "complete"
                yield {
                    **{name: pair[name] for name in ("pair_id", "stance_id", "topic", "template", "kind")},
                    "letter": letter,
                    "side": pair[f"side_{letter}"],
                    "group": pair[f"group_{letter}"],
                    "prompt": pair[f"prompt_{letter}"],
                    "response": None if became == "failed" else self.answer(n, letter),
                    "became": became,
                    "reason": "server: 503 five times" if became == "failed" else None,
                }

    def judgments(self) -> Iterator[Row]:
        for n, pair in enumerate(self.pairs()):
            for place, grader in enumerate(self.graders):
                yield from self._of_pair(n, pair, place, grader)

    def _of_pair(self, n: int, pair: Row, place: int, grader: str) -> Iterator[Row]:
        rng = random.Random(n * 10 + place)
        common = {
            "grader": grader,
            "instruments": "rubric",
            "version": "v",
            "pair_id": pair["pair_id"],
            "stance_id": pair["stance_id"],
            "topic": pair["topic"],
            "captured": 0.9,
            "key": "k",
            "reason": None,
            "state": "ok",
        }
        for order in ("ab", "ba"):
            even = n % 4 != 0 and not (place and n % 7 == 6)  # every seventh pair sets the second grader apart
            same = rng.uniform(0.55, 1.0) if even else rng.uniform(0.0, 0.45)
            a = (1 - same) * (0.8 if n % 3 else 0.1)
            row = {
                **common,
                "measure": "even_handedness",
                "letter": None,
                "side": None,
                "order": order,
                "labels": ["A", "B", "C"],
                "probabilities": [a, 1 - same - a, same],
                "positive": same,
            }
            if n % 30 == 29 and order == "ba":
                row |= {"state": "declined", "reason": "I won't compare these.", "probabilities": None}
                row |= {"positive": None, "captured": None}
            yield row
        for measure, letter in itertools.product(("refusal", "hedging"), ("a", "b")):
            high = rng.uniform(0.6, 1) if (n + (letter == "b")) % 11 == 0 else rng.uniform(0, 0.2)
            yield {
                **common,
                "measure": measure,
                "letter": letter,
                "side": pair[f"side_{letter}"],
                "order": None,
                "labels": ["1", "2", "3", "4", "5"],
                "probabilities": [(1 - high) / 2, (1 - high) / 4, (1 - high) / 4, high / 2, high / 2],
                "positive": high,
            }
