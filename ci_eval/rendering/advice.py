"""Describe warnings about an evaluation, and differences between configurations, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ci_eval.core.base.quoting import NAMED, abbreviate_names, quote, short
from ci_eval.core.model import Evaluation, FilterFigures
from ci_eval.core.model.engine import GRAMMAR, Condition, MachineState, SentConfiguration
from ci_eval.core.model.report import Responses
from ci_eval.core.model.sessions import NOTABLE
from ci_eval.rendering.figures import NO_ESTIMATE, first_filter, format_count

INSTALL = "--dependencies installs the packages that the project asks for (without running them)"
MOSTLY = 0.9
"""If at least this share of sessions got no suggestion, something other than the engine is probably wrong."""


def collect_warnings(evaluation: Evaluation) -> Sequence[str]:
    warnings, (_, whole) = list[str](), first_filter(evaluation)
    if evaluation.unfinished is not None:
        warnings.append(
            f"this run is unfinished: the figures are of {format_count(len(whole.files), 'file')}, and "
            f"{format_count(evaluation.unfinished, 'file')} with sessions are not finished; --resume continues the run"
        )
    if evaluation.unparsable > NOTABLE:
        worst = [f"{path} ({percent(share)} of it)" for path, share in evaluation.unparsable_files.items()]
        warnings.append(
            f"{percent(evaluation.unparsable)} of the source could not be read and has no sessions: the figures are of "
            f"the rest. Most is missing in {abbreviate_names(worst)}. The grammar may be older than the language, or "
            "may not know the code's macros; actions.ignoreFileNames leaves files out"
        )
    # Only the names of filters that users wrote contain "=".
    if without := [
        name for name, of in evaluation.filters.items() if "=" in name and whole.sessions and not of.sessions
    ]:
        warnings.append(f"no session passes the filter {abbreviate_names(without)}")
    # Relative imports are skipped: they import code of the project itself, such as a file that the build generates.
    if packages := [name for name in evaluation.lacking if not name.startswith(".")]:
        several = f"{len(packages):,} packages" if len(packages) > 1 else "1 package"
        helped: dict[str, list[str]] = {}
        for name in packages:
            helped.setdefault(evaluation.remedies.get(name, INSTALL), []).append(name)
        remedies = "; ".join(f"{abbreviate_names(names)}: {remedy}" for remedy, names in [*helped.items()][:NAMED])
        warnings.append(
            f"imports of {several} cannot be resolved: {abbreviate_names(packages)}. The engine finds fewer of their "
            f"names than it would for a user. {remedies}"
        )
    warnings += _models(evaluation)
    empty = whole.statuses.get("empty", 0)
    # A few empty lists are normal. If nearly all are empty, the set-up is probably wrong, not the engine. For language
    # models, `describe_empty_responses` tells the reasons.
    if not evaluation.responses and whole.sessions and empty >= MOSTLY * whole.sessions:
        warnings.append(
            f"the engine answered nothing in {empty:,} of {whole.sessions:,} sessions: it may lack what the project "
            "needs (--dependencies), or not know where the project is"
        )
    return warnings


def percent(share: float) -> str:
    """Return a share as a percentage, with one decimal below 10 %."""
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


REASONS = {
    "length": "the model reached the limit of tokens before its answer began: raise engine.sampling.maxTokens (a model "
    "that thinks needs thousands), or switch thinking off with engine.extra",
    "filter": "a content filter removed the answer",
    "refusal": "the model refused to answer",
    "tool": "the model called a tool instead of answering: remove the tools with engine.extra",
    "stop": "the model wrote no readable answer, or wrote that it has nothing to say; the sessions' pages show the "
    "whole text",
}
"""The text for each reason why a language model stopped: why there is no answer, and what helps."""


def describe_empty_responses(responses: Responses) -> str:
    """Return why answers are missing, the most frequent reason first; "" if none is missing."""
    counts = Counter[str]()
    for finish, count in responses.empty.items():
        counts[finish if finish in REASONS else "stop"] += count
    return "; ".join(f"in {format_count(count, 'session')} {REASONS[finish]}" for finish, count in counts.most_common())


def _models(evaluation: Evaluation) -> Iterator[str]:
    _, whole = first_filter(evaluation)
    if evaluation.responses and (why := describe_empty_responses(evaluation.responses)):
        yield f"the model did not answer: {why}"
    if evaluation.responses and evaluation.responses.unreadable:
        example = quote(" ".join(evaluation.responses.example.split()), 80)
        yield (
            f"{evaluation.responses.unreadable:,} of {whole.sessions:,} answers are not code at their place, or not in "
            f"the requested form, and count as wrong; example: {example}"
        )
    if evaluation.responses and (skipped := whole.statuses.get("skipped", 0)):
        yield (
            f"{skipped:,} of {whole.planned:,} sessions were not asked, so the figures are of the others and have no "
            "interval; --resume continues with more money, more time or another key"
        )
    hidden = sum(_count(whole, name) for name in ("WithoutReference", "TestsWithoutReference"))
    if hidden:
        yield (
            f"{format_count(hidden, 'record')} of {whole.sessions:,} have no reference (an empty one or null), as "
            "in test sets whose answers are withheld: similarities are over the other records alone"
        )
    unscored, hits = _count(whole, "Unscored"), whole.metrics.get("HitAt1")
    if unscored:
        judged = "no comment has a verdict"
        if hits and hits.value is not None:
            judged = f"the judge's figures are over {format_count(hits.n, 'review')} with a verdict"
        yield (
            f"the judge's verdict on {format_count(unscored, 'comment')} could not be read, so {judged}: the sessions' "
            "pages show the responses; a judge that thinks needs a larger judge.sampling.maxTokens"
        )


def _count(figures: FilterFigures, name: str) -> int:
    return round(figures.metrics.get(name, NO_ESTIMATE).value or 0)


MOST = 3


def sentence(differences: Sequence[Condition]) -> str:
    """Return the differences as text, such as "base had `autoImport: off`, new did not"; "" if there are none."""
    texts = [_difference_text(condition) for condition in differences[:MOST]]
    if (more := len(differences) - MOST) > 0:
        texts.append(f"and {more:,} more, which the report lists")
    return "; ".join(texts)


def _difference_text(condition: Condition) -> str:
    if condition.name == GRAMMAR:
        base, new = (f"`{short(value or '')}`" for value in (condition.base, condition.new))
        return f"the sources of base were read by {base}, those of new by {new}"
    if condition.name == "dependencies" and "told" in (condition.base, condition.new):
        informed, uninformed = ("base", "new") if condition.base == "told" else ("new", "base")
        return f"{informed} had the paths of the packages that the project needs, {uninformed} did not"
    base, new = (f"`{condition.name}: {short(value)}`" for value in (condition.base or "", condition.new or ""))
    if condition.base is None:
        return f"new had {new}, base did not"
    if condition.new is None:
        return f"base had {base}, new did not"
    return f"base had {base}, new {new}"


def conditions_line(differences: Sequence[Condition], *, only_told: bool) -> str:
    if not differences:
        return ""
    same = "The engine is the same, the runs differ only in its configuration"
    return f"{same if only_told else 'Not the same in both runs'}: {sentence(differences)}."


NAMES = {
    "like": "Configured like",
    "autoImport": "Auto-import",
    "dependencies": "Dependencies",
    "arguments": "Arguments",
    "settings": "Settings",
    "options": "Initialization options",
    "environment": "Environment",
    "files": "Files",
    "languageIds": "Names of the language",
    "quirks": "Special treatment",
    "limits": "Limits",
    "capabilities": "Client capabilities",
}


def configuration_rows(sent: SentConfiguration | None) -> list[tuple[str, str]]:
    known, rows = msgspec.to_builtins(sent) if sent else {}, []
    for key, name in NAMES.items():
        value = known.get(key)
        if not value:
            continue
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            text = " ".join(value)
        elif isinstance(value, Mapping) and all(isinstance(item, str | float) for item in value.values()):
            texts = {key: item if isinstance(item, str) else f"{item:,g}" for key, item in value.items()}
            text = ", ".join(f"{key} {item}" for key, item in texts.items())
        rows.append((name, text))
    return rows


def busy_text(machine: MachineState) -> str:
    """Return a warning about the times if the machine was busy, else ""."""
    if not machine.busy:
        return ""
    signs = []
    if machine.load is not None:
        signs.append(f"load {machine.load:.1f} on {machine.cores} cores")
    if machine.pressure is not None:
        signs.append(f"for {machine.pressure:.0%} of the time something waited for a processor")
    return (
        f"The machine was busy ({', '.join(signs)}): times say more about the machine than about the engine; measure "
        "times on a quiet machine, or with fewer --jobs"
    )
