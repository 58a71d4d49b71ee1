"""What a shell is told of names while somebody types: those that are known without reading anything."""

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_Items = list[CompletionItem]


def model_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the embedded models, and the beginnings of all other names."""
    from evenhand.models import EMBEDDED_MODELS  # noqa: PLC0415  (only a shell that completes needs it)

    if incomplete.startswith("gguf:"):
        return _files(incomplete, "gguf:")
    known = [(name, entry.good_for) for name, entry in EMBEDDED_MODELS.items()]
    known += [("gguf:", "a GGUF file"), ("openai:", "a model at OpenAI"), ("inspect:", "any provider of Inspect")]
    known += [("vllm:", "a folder that vLLM runs")]
    return _beginning(known, incomplete)


def grader_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete graders: the fitted ones that come along, and models."""
    from evenhand.graders.fitted.grader import BUILTIN_GRADERS  # noqa: PLC0415

    fitted = [(f"fitted:{name}", "fitted to labels, asks no model") for name in ("builtin", *BUILTIN_GRADERS)]
    return _beginning(fitted, incomplete) + model_names(context, parameter, incomplete)


def embedded_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the embedded models."""
    from evenhand.models import EMBEDDED_MODELS  # noqa: PLC0415

    return _beginning(((name, entry.good_for) for name, entry in EMBEDDED_MODELS.items()), incomplete)


def instrument_sets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the sets of instruments for audits, and files."""
    from evenhand.instruments import BUILTIN_INSTRUMENT_SETS  # noqa: PLC0415

    return _or_files(((name, "") for name in (*BUILTIN_INSTRUMENT_SETS, "published")), incomplete)


def rating_instruments(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the instruments that rate, and files."""
    from evenhand.instruments.rating import BUILTIN_RATING  # noqa: PLC0415

    return _or_files(((name, "") for name in BUILTIN_RATING), incomplete)


def question_sets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the built-in questions and their tags, and files."""
    from evenhand.instruments.questions import BUILTIN_QUESTIONS, builtin_tags  # noqa: PLC0415

    tags = ((f"{BUILTIN_QUESTIONS}:{tag}", f"{number} questions") for tag, number in builtin_tags().items())
    return _or_files([(BUILTIN_QUESTIONS, "all of them"), *tags], incomplete)


def gold_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete the public gold sets, which can be fetched."""
    from evenhand.pairs.gold import PUBLIC_SETS  # noqa: PLC0415

    return _beginning(((name, known.title) for name, known in PUBLIC_SETS.items()), incomplete)


def gold_sets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> _Items:
    """Complete all gold sets, and files."""
    from evenhand.studies.gold import gold_entries  # noqa: PLC0415

    return _or_files(((entry.name, entry.title) for entry in gold_entries()), incomplete)


def _beginning(known: Iterable[tuple[str, str]], incomplete: str) -> _Items:
    return [
        CompletionItem(name, help=" ".join(text.split()) or None) for name, text in known if name.startswith(incomplete)
    ]


def _or_files(known: Iterable[tuple[str, str]], incomplete: str) -> _Items:
    return _beginning(known, incomplete) or [CompletionItem(incomplete, type="file")]


def _files(incomplete: str, before: str) -> _Items:
    """Return the files that a path behind a mark may mean; a shell alone would look for the mark too."""
    typed = incomplete.removeprefix(before)
    folder = Path(typed).expanduser() if typed.endswith("/") else Path(typed).expanduser().parent
    head = typed[: typed.rfind("/") + 1]
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    names = [
        f"{before}{head}{path.name}{'/' if path.is_dir() else ''}" for path in found if not path.name.startswith(".")
    ]
    return [CompletionItem(name) for name in names if name.startswith(incomplete) and name.endswith(("/", ".gguf"))]
