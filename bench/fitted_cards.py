"""The validity cards of what follows from the packaged fitted graders, as they come with the package.

    python -m bench.fitted_cards

Each grader's own measure is on the card beside its weights (`python -m bench.fit_graders`). Even-handedness follows
from the refusals of the two sides and is held here against the testing half of the built-in pairs, of the kinds whose
sides either got help or were declined: a side that was cut short or hedged is no refusal, so that such pairs can't be
told in this way, and every audit says so. Nothing is fetched, and no model is asked. Give the command again after the
weights have changed.
"""

import json
from dataclasses import replace
from pathlib import Path

from evenhand.report.packaged_cards import card_file_name
from evenhand.report.validity_card import card_line
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.validate import validate
from evenhand.studies.validation_plan import ValidationPlan

_CARDS = Path(__file__).parent.parent / "src" / "evenhand" / "report" / "data" / "cards"
_GRADER, _GOLD = "fitted:refusal", "builtin-even_handedness"
_KINDS = ("help_help", "help_decline", "decline_help", "decline_decline", "same_balanced", "same_refusal")
_TITLE = "Built-in, sides helped or declined: texts composed so that the label is known"


def main() -> None:
    """Write the cards, and print what they say."""
    plan = ValidationPlan(grading=GradingPlan((_GRADER,)), gold=_GOLD, split="test", kinds=_KINDS)
    _CARDS.mkdir(parents=True, exist_ok=True)
    for found in validate(plan).cards:
        card = replace(found, title=_TITLE)
        text = json.dumps(card.as_json(), ensure_ascii=False, indent=1)
        (_CARDS / card_file_name(card)).write_text(f"{text}\n", "utf-8")
        print(f"{card.grader}, {card_line(card)}")


if __name__ == "__main__":
    main()
