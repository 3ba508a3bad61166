"""The verdicts and differences in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from ci_eval.core.contracts import Task
from ci_eval.core.model import (
    Comparison,
    Determinism,
    Difference,
    Elsewhere,
    Evaluation,
    Failures,
    Trend,
    TrendPoint,
    Verdict,
)
from ci_eval.core.model.sessions import NOTABLE
from ci_eval.core.model.units import TRENDS, amount, change, interval_text
from ci_eval.core.rendering import figures as figure_texts
from ci_eval.core.rendering.advice import percent

SIGNS = {
    Verdict.BETTER: "▲",
    Verdict.WORSE: "▼",
    Verdict.EQUIVALENT: "=",
    Verdict.NOT_SHOWN: "?",
    Verdict.NOT_COMPARABLE: "-",
}
WORDS = {verdict: verdict.value.replace("-", " ") for verdict in Verdict}


UNMARKED = {"▲": "△", "▼": "▽"}
"""The sign of a verdict that holds by itself, but not among all verdicts of its page."""


def sign(verdict: Verdict, *, marked: bool = True) -> str:
    return SIGNS[verdict] if marked else UNMARKED.get(SIGNS[verdict], SIGNS[verdict])


def said(verdict: Verdict, *, marked: bool = True) -> str:
    return f"{sign(verdict, marked=marked)} {WORDS[verdict]}"


def mark_verdict(verdict: Verdict, *, marked: bool = True) -> Markup:
    shown = Markup('<span class="verdict {}{}"><span aria-hidden="true">{}</span> {}</span>')
    grey = "" if marked or SIGNS[verdict] not in UNMARKED else " unmarked"
    return shown.format(verdict.value, grey, sign(verdict, marked=marked), WORDS[verdict])


def went(task: Task, rank: int | None, score: float, status: str) -> str:
    """Return how one session of a comparison went: its rank, in tasks that play their items its score, or why it
    failed."""
    if status not in {"ok", "no-match", "empty", "cut-off"}:
        return status
    if task.play:
        return f"{score:.0%}"
    return f"{rank:,}" if rank else "absent"


def populations(evaluation: Evaluation) -> tuple[str, str]:
    """Return two sentences about an evaluation: what its figures mean for this project, and for other code."""
    _, figures = figure_texts.first_filter(evaluation)
    _, leading = figure_texts.shown_filter(evaluation)
    drawn = f"intervals (95 %) hold what another seed would draw ({', '.join(evaluation.drawn)})"
    here = f"all {figures.sessions:,} sessions were asked: {drawn if evaluation.drawn else 'its figures are exact'}"
    repeats = evaluation.repeats
    if repeats and repeats.differed:
        here = f"all {figures.sessions:,} sessions were asked; intervals (95 %) are of answers that differ"
    elif not evaluation.is_function and not evaluation.noise:
        here = (
            f"all {figures.sessions:,} sessions were asked once; intervals (95 %) hold what the engine may answer "
            "otherwise"
        )
    if evaluation.unparsable > NOTABLE:
        here = (
            f"all {figures.sessions:,} sessions of what could be read were asked, but "
            f"{percent(evaluation.unparsable)} of the source could not be read; intervals (95 %) say where the "
            "figures of all would lie, if the rest is like it"
        )
    if figures.sessions < evaluation.population:
        asked = f"{figures.sessions:,} of its {evaluation.population:,} sessions were asked"
        here = f"{asked}; intervals (95 %) say where the figures of all lie"
    if repeats:
        here += f". {_alike_text(repeats, 'more than once')}"
    deletion = evaluation.footprint.deletion
    if deletion.asked:
        here += f". {_alike_text(deletion, 'again after a deletion, not after typing')}"
        here += ": the figures are of typing" if deletion.differed else ""
    elsewhere = f"intervals (95 %) say where the figures of {evaluation.clusters} like these lie"
    if not figure_texts.judged_of_code(leading):
        elsewhere = f"no intervals, since there are no two {evaluation.clusters} with different figures"
    return f"{figure_texts.HERE}: {here}.", f"{figure_texts.ELSEWHERE}: {elsewhere}."


def _alike_text(of: Determinism, how: str) -> str:
    asked = f"Of {figure_texts.format_count(of.asked, 'session')} asked {how}"
    if not of.differed:
        return f"{asked}, all were answered alike"
    return f"{asked}, {of.differed:,} ({of.share:.1%}) were answered differently"


def p_text(difference: Difference | Elsewhere) -> str:
    if difference.p is None:
        return ""
    return "p < 0.001" if difference.p < 0.001 else f"p = {difference.p:.3f}"


def explain_verdict(difference: Difference | Elsewhere, unit: str) -> str:
    """Return interval, p-value and reason of a verdict, in one text."""
    interval = "" if difference.low is None or difference.low == difference.high else interval_text(difference, unit)
    return "; ".join(filter(None, (interval, p_text(difference), difference.why)))


def verdict_lines(
    comparison: Comparison, shown: Callable[[str], str] = str, folders: tuple[str, str] | None = None
) -> list[str]:
    """Return what neither the answer nor the tables say of a comparison: the import that the first suggestion adds, the
    difference that was to be found, other kinds of tokens, times and failures, if they were judged. `shown` makes
    foreign text safe. `folders`: the paths of the two workspaces; None = their names are enough."""
    others = dict(_beside_lines(comparison, shown))
    keywords = others.pop("keywords", "")
    time, failures = _time_line(comparison, shown), _failure_line(comparison, shown, folders)
    lines = [_imports_ahead(comparison), detection_text(comparison), keywords, time, failures, *others.values()]
    return [line for line in lines if line]


def _imports_ahead(comparison: Comparison) -> str:
    """Return how often the first suggestion adds an import if that moved with the leading metric; "" otherwise."""
    figures = comparison.filters[comparison.headline]
    ahead, verdict = figures.get("UnneededImportAt1"), figures[comparison.declared[0]].verdict
    if not ahead or ahead.verdict != verdict or verdict not in {Verdict.BETTER, Verdict.WORSE}:
        return ""
    shares = f"{amount(ahead.base, 'share')} → {amount(ahead.new, 'share')}"
    return f"The first suggestion adds an import that the code does not need in {shares} of the lists."


def _beside_lines(comparison: Comparison, shown: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield each group of kinds beside the headline's with a line about it. What is not offered at all has no ranks."""
    base, new = _names(comparison, shown)
    name = comparison.declared[0]
    unit = _unit(comparison, name)
    for group, part in figure_texts.beside(comparison.headline, comparison.filters).items():
        counts, figures = comparison.counts[part], comparison.filters[part]
        leading, recall = figures[name], figures.get("Recall")
        if not counts.sessions or leading.difference is None:
            continue
        # An engine that never offers the group has no ranks: a verdict on them would mislead.
        offers = (recall is None or recall.base != 0, recall is None or recall.new != 0)
        moved = f"better in {counts.wins:,}, worse in {counts.losses:,} of {counts.sessions:,}"
        figure = (
            f"{name} {amount(leading.base, unit)} → {amount(leading.new, unit)}, {change(leading.difference, unit)}"
        )
        text = {
            (True, True): f"{said(leading.verdict, marked=leading.marked)}. {figure}; {moved}",
            (True, False): f"{new} offers none; {moved}",
            (False, True): f"{base} offers none; {moved}",
            (False, False): f"neither engine offers any of {counts.sessions:,}",
        }[offers]
        yield group, f"{group.capitalize()}, apart: {text}."


def _names(comparison: Comparison, shown: Callable[[str], str]) -> tuple[str, str]:
    """Return what the two engines are called: by their names, or as base and new if these are the same."""
    base, new = comparison.base.engine.name, comparison.new.engine.name
    return ("base", "new") if base == new else (shown(base), shown(new))


STATUS_WORDS = {"timeout": "hung at", "engine-crash": "crashed at", "error": "failed at"}


def _failure_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    """Return the verdict on failures with an example of each side; "" if neither engine failed."""
    if comparison.failures is None:
        return ""
    verdict, p = comparison.failures.verdict, comparison.failures.p
    sides, counts, texts = (comparison.base, comparison.new), [], []
    for place, (side, name) in enumerate(zip(sides, _names(comparison, shown), strict=True)):
        failures = side.failures or Failures()
        counts.append(f"{('base', 'new')[place]} failed in {failures.sessions:,}")
        if failures.example:
            folder = folders[place] if folders else side.workspace
            command = shown(f"ci-eval show {folder} {failures.example}")
            texts.append(f"; {name} {_failure_text(failures, comparison.paired)} ({command})")
    sessions = figure_texts.format_count(comparison.paired, "session")
    return (
        f"Failures: {said(verdict, marked=comparison.failures.marked)} ({', '.join(counts)} of {sessions}, sign test "
        f"p = {p:.3f}){''.join(texts)}. They count as misses."
    )


def _failure_text(failures: Failures, pairs: int) -> str:
    (status, _), *others = sorted(failures.statuses.items(), key=lambda item: (-item[1], item[0]))
    what = "failed at" if others else STATUS_WORDS.get(status, "failed at")
    text = f"{what} {failures.sessions:,} of {figure_texts.format_count(pairs, 'session')}"
    if failures.rounds == 1:
        return text
    if failures.always == failures.sessions:
        return f"{text}, in {failures.rounds} of {failures.rounds} rounds"
    return f"{text}, {failures.always:,} of them in all {failures.rounds} rounds"


def _time_line(comparison: Comparison, shown: Callable[[str], str]) -> str:
    median, high = (comparison.filters[comparison.headline].get(name) for name in TRENDS)
    if median is None or high is None or median.verdict is Verdict.NOT_COMPARABLE:
        return ""
    base, new = _names(comparison, shown)
    faster = {Verdict.BETTER: new, Verdict.WORSE: base}.get(median.verdict)
    verdict = f"{faster} is faster at the median" if faster else said(median.verdict)
    return (
        f"Time: {verdict}. Median {amount(median.base, 'ms')} → {amount(median.new, 'ms')}, "
        f"95 % of the lookups within {amount(high.base, 'ms')} → {amount(high.new, 'ms')}."
    )


def elsewhere_line(comparison: Comparison) -> str:
    name = comparison.declared[0]
    elsewhere = comparison.filters[comparison.headline][name].elsewhere
    verdict, reason = (
        said(elsewhere.verdict, marked=elsewhere.marked),
        explain_verdict(elsewhere, _unit(comparison, name)),
    )
    return f"{figure_texts.ELSEWHERE}: {verdict} ({reason})."


def pairs_text(comparison: Comparison) -> str:
    """Return how many sessions were compared, of which those of the headline are some, and how many have no partner."""
    asked = f"{comparison.paired:,} of the project's {comparison.population:,} sessions"
    if comparison.paired == comparison.population:
        asked = f"all {figure_texts.format_count(comparison.paired, 'session')} of the project"
    alone = [
        f"{count:,} {where}"
        for count, where in (
            (comparison.only_base, "only in base"),
            (comparison.only_new, "only in new"),
            (comparison.changed_text, "in changed files"),
        )
        if count
    ]
    return f"Compared {asked}, in {figure_texts.format_count(comparison.files, 'file')}" + (
        f"; {', '.join(alone)}" if alone else ""
    )


def _unit(comparison: Comparison, name: str) -> str:
    return next(info.unit for info in comparison.metrics if info.name == name)


def detection_text(comparison: Comparison) -> str:
    """Return which difference was to be found, and which one the sessions asked find; "" if no detection was asked
    for."""
    detection = comparison.detection
    if detection is None:
        return ""
    unit = _unit(comparison, detection.metric)
    target = (
        f"wanted: {change(detection.wanted, unit).lstrip('+')} of {detection.metric}, with power {detection.power:.0%}"
    )
    if detection.reached is None:
        return f"Detectable: nothing, since {detection.metric} has no figure ({target})."
    if not detection.reached:
        return f"Detectable: any difference in this project, since all its sessions were asked ({target})."
    why = ""
    if detection.reached > detection.wanted and detection.most and comparison.paired < comparison.population:
        why = f"; at most {detection.most:,} sessions were asked: --detect {detection.wanted * 100:g}pp asks more"
    elif detection.reached > detection.wanted and comparison.paired == comparison.population:
        why = "; all sessions were asked, but answers differ from round to round: more --rounds show more"
    return f"Detectable: {change(detection.reached, unit).lstrip('+')} ({target}{why})."


def judged_elsewhere(comparison: Comparison) -> bool:
    figures = comparison.filters[comparison.headline]
    return any(figures[name].elsewhere.low is not None for name in comparison.declared)


ADJUSTED = (
    "Each interval holds by itself in 95 of 100 comparisons. ▲ and ▼ mark the verdicts on declared metrics that hold "
    "among all of these under every filter (Holm), so that a page without a difference has any in at most 5 of 100; △ "
    "and ▽ hold by themselves only"
)
"""What the marks of a comparison's page mean."""


def night_figure(trend: Trend, night: TrendPoint, metric: str) -> str:
    unit = next((info.unit for info in trend.metrics if info.name == metric), "")
    estimate = night.metrics.get(metric)
    return amount(estimate.value if estimate else None, unit)
