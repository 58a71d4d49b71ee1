"""Several subjects, several system prompts, one command: an audit of each, and their comparison."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.budget import BudgetSpentError
from evenhand.pairs.paired_prompt import content_id
from evenhand.report.compare_summary import Comparison
from evenhand.studies.audit.plan import AuditPlan
from evenhand.studies.audit.run import AuditResult, audit
from evenhand.studies.compare import compare
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

COMPARISON = "comparison.json"
WITHOUT = "none"
"""What stands for going without a system prompt."""
_LONGEST = 80
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


@dataclass(frozen=True, slots=True)
class Configurations:
    """What audits of several configurations came to."""

    results: tuple[AuditResult, ...]
    comparison: Comparison


def configurations(first: AuditPlan, subjects: Sequence[str], system_prompts: Sequence[Path]) -> list[AuditPlan]:
    """Return a plan for each subject with each system prompt, each with a folder of its own in that of ``first``.

    Args:
        first: everything but subject and system prompt.
        subjects: one or more models; one that is named twice counts once.
        system_prompts: files; the word ``none`` is no system prompt, unless there is a file of that name. Without any,
            subjects go without.

    Returns:
        The plans, subject by subject. A single one keeps the folder and has no name of its own.

    Raises:
        InputError: several configurations of responses that are there already.
    """
    prompts: list[Path | None] = [_prompt(path) for path in dict.fromkeys(system_prompts)] or [None]
    chosen = [(subject, prompt) for subject in dict.fromkeys(subjects) for prompt in dict.fromkeys(prompts)]
    if len(chosen) == 1:
        ((subject, prompt),) = chosen
        return [replace(first, subject=subject, system_prompt=prompt, configuration="")]
    if first.responses is not None:
        raise InputError(
            "gives the responses of one configuration, and several are asked for",
            field="--responses",
            way_out="name one --subject and no --system-prompt, and compare the run folders with `evenhand compare`",
        )
    titles = _titles([prompt for prompt in dict.fromkeys(prompts) if prompt is not None])
    names = [subject if prompt is None else f"{subject} + {titles[prompt]}" for subject, prompt in chosen]
    return [
        replace(first, subject=subject, system_prompt=prompt, configuration=name, out=first.out / slug)
        for (subject, prompt), name, slug in zip(chosen, names, slugs(names), strict=True)
    ]


def audit_configurations(plans: Sequence[AuditPlan], out: Path, watch: StudyWatch | None = None) -> Configurations:
    """Carry the audits out one after another, compare them, and write the comparison into ``out``.

    Each goes on where it was interrupted. What one has cost is no longer there for the next: the first plan's
    ``max_cost`` is for all of them.

    Raises:
        BudgetSpentError: the next call could cost more than is left of it.
    """
    watch = watch or UnwatchedStudy()
    results: list[AuditResult] = []
    for number, plan in enumerate(plans, 1):
        watch.say(f"Configuration {number} of {len(plans)}: {plan.configuration}")
        results.append(_audit_with_the_rest(plan, sum(result.cost for result in results), watch))
    comparison = compare(
        [plan.out for plan in plans],
        analysis=plans[0].analysis,
        names=[plan.configuration for plan in plans],
    )
    RunFolder(out).write_json(COMPARISON, comparison.as_json())
    return Configurations(tuple(results), comparison)


def slugs(names: Sequence[str]) -> list[str]:
    """Return names of folders, no two the same on any file system.

    >>> slugs(["openai:gpt-4.1 + support bot.txt", "../m", "m", "M"])
    ['openai-gpt-4.1+support-bot.txt', 'm-9694673d', 'm-552d78cf', 'M-940e91ae']
    """
    plain = [_plain(name) for name in names]
    lowered = [slug.lower() for slug in plain]
    return [
        slug if slug and lowered.count(slug.lower()) == 1 else "-".join(filter(None, (slug, content_id(name))))
        for name, slug in zip(names, plain, strict=True)
    ]


def _audit_with_the_rest(plan: AuditPlan, spent: float, watch: StudyWatch) -> AuditResult:
    if plan.max_cost is None or not spent:
        return audit(plan, watch)
    try:
        return audit(replace(plan, max_cost=max(0.0, plan.max_cost - spent)), watch)
    except BudgetSpentError as error:
        raise BudgetSpentError(
            f"{plan.configuration}, after ${spent:.4f} of ${plan.max_cost:g} went to the configurations before: {error}"
        ) from error


def _prompt(path: Path) -> Path | None:
    return None if path == Path(WITHOUT) and not path.exists() else path


def _titles(prompts: Sequence[Path]) -> dict[Path, str]:
    """Return what each system prompt is called: its file's name, or its path where two files have that name."""
    names = [path.name for path in prompts]
    return {path: path.name if names.count(path.name) == 1 else path.as_posix() for path in prompts}


def _plain(name: str) -> str:
    """Return a name with nothing in it that a file system or a shell takes amiss."""
    short = re.sub(r"[^A-Za-z0-9._+-]+", "-", name.replace(" + ", "+")).strip("-.+")[:_LONGEST].rstrip("-.+")
    return f"_{short}" if _RESERVED.fullmatch(short) else short
