"""The words for the sessions that figures are about, and the sentences that lead an evaluation's report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ci_eval.core.filters import GROUPS, collect_letters, label, letters, standard_name, standard_parts
from ci_eval.core.model import Evaluation, FilterFigures
from ci_eval.core.model.units import amount
from ci_eval.core.rendering.figures import NO_FIGURES, describe_session_counts, first_filter, format_count, intervals


def shown_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    """Return name and figures of the filter that leads."""
    return evaluation.headline, evaluation.filters.get(evaluation.headline, NO_FIGURES)


def describe_sessions(evaluation: Evaluation, *, files: bool = False) -> str:
    """Return how many of the sessions were evaluated that lead, and of the whole run if these are more. `files`: also
    say in how many files."""
    (name, leading), (_, whole) = shown_filter(evaluation), first_filter(evaluation)
    sides = [(figures, sum(of.sessions > 0 for of in figures.files.values())) for figures in (leading, whole)]
    text, of_run = (
        describe_session_counts(figures, f" in {format_count(count, 'file')}" if files else "")
        for figures, count in sides
    )
    return text if leading.planned == whole.planned else f"{text} ({label(name)}); the whole run: {of_run}"


def pooled_label(name: str, names: Iterable[str]) -> str:
    """Return the label of a filter, with the numbers of letters that the filter pools if it pools several. `names`: all
    filters."""
    lengths, parts = collect_letters(names), standard_parts(name)
    # A declared filter may name the letters itself, as `kind=FIELD prefix=1` does.
    says_letters = parts[1] is not None if parts else any(word.startswith("prefix=") for word in name.split())
    if len(lengths) < 2 or says_letters:
        return label(name)
    return f"{label(name)} ({', '.join(map(letters, lengths))} typed, pooled)"


def find_length_filters(headline: str, names: Sequence[str]) -> dict[int, str]:
    """Return letters typed → the filter of the headline's kinds with so many letters; empty if there is one number,
    or the headline is a declared filter."""
    parts = standard_parts(headline)
    if parts is None:
        return {}
    group = parts[0]
    possible = {length: standard_name(group, length) for length in collect_letters(names)}
    return {length: name for length, name in possible.items() if name in names}


def find_length_figures(evaluation: Evaluation) -> dict[int, FilterFigures]:
    """Return letters typed → the figures of the headline's kinds; empty if one number of letters was asked."""
    columns = find_length_filters(evaluation.headline, list(evaluation.filters))
    return {length: evaluation.filters[name] for length, name in columns.items()}


def beside(headline: str, names: Iterable[str]) -> dict[str, str]:
    """Return group of kinds → its filter, for the groups that stand beside the headline's at the same letters."""
    parts = standard_parts(headline)
    if parts is None or parts[0] is None:
        return {}
    others = {group: standard_name(group, parts[1]) for group in GROUPS if group != parts[0]}
    known = set(names)
    return {group: name for group, name in others.items() if name in known}


def sentences(evaluation: Evaluation, shown: Callable[[str], str] = str) -> list[str]:
    """Return how often the expected text was suggested: of the headline, then of each group of kinds beside it. Empty
    for tasks without ranks. `shown` makes foreign text safe."""
    name, figures = shown_filter(evaluation)
    leading = _sentence(shown(label(name)), figures)
    if not leading:
        return []
    filters = beside(name, evaluation.filters)
    return [
        leading,
        *(line for group, filter_name in filters.items() for line in _beside(group, evaluation.filters[filter_name])),
    ]


def _sentence(text: str, figures: FilterFigures) -> str:
    first, five, anywhere = (figures.metrics.get(metric) for metric in ("RecallAt1", "RecallAt5", "Recall"))
    if not (first and five and anywhere and first.value is not None):
        return ""
    between = intervals(first, "share")
    # A filter in one line begins with a condition, whose name has no capital.
    begin = text if "=" in text else text[:1].upper() + text[1:]
    return (
        f"{begin}: the expected text stood first in {amount(first.value, 'share')} of "
        f"{figures.sessions:,} sessions{f' ({between})' if between else ''}, among the first 5 in "
        f"{amount(five.value, 'share')}, anywhere in the list in {amount(anywhere.value, 'share')}."
    )


def _beside(group: str, figures: FilterFigures) -> Iterator[str]:
    first, anywhere = figures.metrics["RecallAt1"].value, figures.metrics["Recall"].value
    if not figures.sessions or first is None or anywhere is None:
        return
    # An engine that never offers this group of kinds has no ranks to tell.
    if not anywhere:
        yield f"{group.capitalize()}, apart: none of {figures.sessions:,} was offered."
        return
    yield (
        f"{group.capitalize()}, apart: first in {amount(first, 'share')} of {figures.sessions:,}, anywhere in "
        f"{amount(anywhere, 'share')}."
    )
