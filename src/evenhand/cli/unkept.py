"""Figures that could not be written to the run folder are printed all the same."""

from evenhand.cli.terminal import terminal
from evenhand.execution import UnwritableError


def say_unkept(error: UnwritableError) -> None:
    """Say on standard error that what is printed was not kept, and why."""
    terminal(stderr=True, soft_wrap=True).print(f"Not kept: {error}", markup=False)
