"""What a grader is asked: prompt templates, the answers they allow, and the built-in sets."""

from evenhand.instruments.builtin import BUILTIN_INSTRUMENT_SETS, builtin_instruments
from evenhand.instruments.instrument import Derivation, Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.opposite import opposite
from evenhand.instruments.prompt_file import read_prompt_file
from evenhand.instruments.request import Message, Request
from evenhand.instruments.scale import Option, Scale

__all__ = [
    "BUILTIN_INSTRUMENT_SETS",
    "Derivation",
    "Form",
    "Instrument",
    "InstrumentSet",
    "Message",
    "Option",
    "Request",
    "Scale",
    "Unit",
    "builtin_instruments",
    "opposite",
    "read_prompt_file",
]
