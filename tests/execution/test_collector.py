"""Runs share the garbage collector's settings, and leave them as they were."""

import gc

import pytest

from evenhand.execution.collector import collecting


def test_settings_come_back_whatever_the_order_in_which_runs_end() -> None:
    before = gc.get_threshold()
    one, other = collecting.rarely(), collecting.rarely()
    one.__enter__()
    other.__enter__()
    assert gc.get_threshold()[0] > before[0]
    one.__exit__(None, None, None)
    assert gc.get_threshold() != before
    other.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_settings_come_back_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="x"), collecting.rarely():
        raise ValueError("x")
    assert gc.get_threshold() == before
