"""Fill the fields of a prompt, once, and leave every other character as it is."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.sandbox import SandboxedEnvironment

from evenhand.errors import InputError

_BRACE_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_JINJA_MARK = re.compile(r"\{\{|\{%")
_PLAIN_NODES = (nodes.Output, nodes.TemplateData, nodes.Name)
"""What a prompt may consist of. Whatever computes (a filter, a loop, an attribute) can fail, or never end, when it is
filled, which is after the answers were paid for."""


class TemplateStyle(StrEnum):
    """How a template marks its fields."""

    BRACES = "braces"
    """``{name}``; braces round anything else are text."""
    JINJA = "jinja"
    """``{{ name }}``, rendered in a sandbox."""


def template_style(text: str) -> TemplateStyle:
    """Return the style a template is written in.

    >>> template_style("Rate {{ output }}"), template_style('Answer {output} as {"rating": 3}')
    (<TemplateStyle.JINJA: 'jinja'>, <TemplateStyle.BRACES: 'braces'>)
    """
    return TemplateStyle.JINJA if _JINJA_MARK.search(text) else TemplateStyle.BRACES


def template_fields(text: str) -> frozenset[str]:
    """Return the names of the fields that a template uses.

    Raises ``InputError`` where a Jinja template does not parse, or does more than to name fields.
    """
    if template_style(text) is TemplateStyle.BRACES:
        return frozenset(_BRACE_FIELD.findall(text))
    try:
        parsed = _sandbox().parse(text)
    except (TemplateError, MemoryError, RecursionError) as error:
        raise InputError(f"is not a template ({error})", way_out="mend its {{ }} marks") from error
    odd = next((node for node in parsed.find_all(nodes.Node) if not isinstance(node, _PLAIN_NODES)), None)
    if odd is not None:
        raise InputError(
            f"has {type(odd).__name__.lower()!r} in its line {odd.lineno}, where only fields {{{{ name }}}} are filled",
            way_out="write the text out, with fields and nothing else",
        )
    return frozenset(node.name for node in parsed.find_all(nodes.Name))


def check_fields(text: str, known: Iterable[str], source: str) -> None:
    """Raise ``InputError`` for a template that is none, and for a field that nothing will fill."""
    known = sorted(known)
    try:
        used = template_fields(text)
    except InputError as error:
        raise InputError(error.problem, source=source, way_out=error.way_out) from error
    unknown = sorted(used - set(known))
    if unknown:
        raise InputError(
            f"has the field {unknown[0]!r}, which nothing fills",
            source=source,
            way_out=f"use only the fields {', '.join(known)}",
        )


def render(text: str, fields: Mapping[str, str]) -> str:
    """Return the template with its fields replaced in one pass, so that braces inside a value stay as they are.

    >>> render("Q: {question} {x}", {"question": "what is {x}?", "x": "1"})
    'Q: what is {x}? 1'
    """
    if template_style(text) is TemplateStyle.BRACES:
        return _BRACE_FIELD.sub(lambda match: fields[match[1]], text)
    return _sandbox().from_string(text).render(dict(fields))


def _sandbox() -> SandboxedEnvironment:
    # Prompts are plain text for a model: escaping for HTML would change what the grader reads.
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
