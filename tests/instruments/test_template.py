"""Fields are filled once and everything else is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.instruments.template import TemplateStyle, render, template_fields, template_style

TEXTS = st.text(st.sampled_from("ab{} %_\n{}x"), max_size=30)


@given(TEXTS, TEXTS)
def test_values_are_never_rendered_again(one: str, other: str) -> None:
    assert render("<{one}|{other}>", {"one": one, "other": other}) == f"<{one}|{other}>"
    assert render("<{{ one }}|{{other}}>", {"one": one, "other": other}) == f"<{one}|{other}>"


def test_braces_round_anything_but_a_name_are_text() -> None:
    text = 'Answer as {"rating": {response}} or {} or { response } or {1}.'
    assert template_fields(text) == {"response"}
    assert render(text, {"response": "7"}) == 'Answer as {"rating": 7} or {} or { response } or {1}.'


def test_jinja_keeps_white_space_and_escapes_nothing() -> None:
    text = "\n\n{{ response }} & <b>\n"
    assert template_style(text) is TemplateStyle.JINJA
    assert render(text, {"response": "<i>"}) == "\n\n<i> & <b>\n"


def test_broken_jinja() -> None:
    with pytest.raises(InputError, match="is not a template"):
        template_fields("{{ response")
