"""The packaged cards of the embedded language models are of the models, wordings and halves in use."""

import pytest

from evenhand.instruments import builtin_instruments
from evenhand.models import EMBEDDED_MODELS
from evenhand.report.packaged_cards import card_file_name, packaged_card, packaged_card_names

NAMES = [name for name in packaged_card_names() if name.partition("--")[0] in EMBEDDED_MODELS]


def test_there_are_cards_of_an_embedded_grader() -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_of_the_weights_and_the_wording_in_use(name: str) -> None:
    card = packaged_card(name)
    versions = builtin_instruments("compact").versions
    assert EMBEDDED_MODELS[card.grader].sha256 in card.identity
    assert card.versions
    assert all(versions[measure] == version for measure, version in card.versions.items()), (
        "asked with another wording: make the cards anew with python -m bench.model_cards"
    )
    assert (card.split, card.reading, card.threshold) == ("test", "probabilities", 0.5)
    assert card_file_name(card) == name
    assert sum(card.unreadable.values()) < card.items / 10
