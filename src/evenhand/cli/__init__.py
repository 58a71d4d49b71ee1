"""The command line: one file a command, which parses, calls a study and prints."""

from evenhand.cli.root import main

__all__ = ["main"]
