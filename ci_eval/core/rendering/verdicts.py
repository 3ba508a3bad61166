"""The verdicts and differences in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
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
from ci_eval.core.rendering.advice import conditions_line, percent

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
        here += f". {repeats_text(repeats)}"
    if deletion := deletion_text(evaluation.footprint.deletion):
        here += f". {deletion}"
    elsewhere = f"intervals (95 %) say where the figures of {evaluation.clusters} like these lie"
    if not figure_texts.judged_of_code(leading):
        elsewhere = f"no intervals, since there are no two {evaluation.clusters} with different figures"
    return f"{figure_texts.HERE}: {here}.", f"{figure_texts.ELSEWHERE}: {elsewhere}."


def repeats_text(repeats: Determinism) -> str:
    asked = f"Of {figure_texts.format_count(repeats.asked, 'session')} asked more than once"
    if not repeats.differed:
        return f"{asked}, all were answered alike"
    return f"{asked}, {repeats.differed:,} ({repeats.share:.1%}) were answered differently"


def deletion_text(deletion: Determinism) -> str:
    """Return whether the engine answered alike when the text was reached by a deletion; "" if that was not asked."""
    if not deletion.asked:
        return ""
    asked = f"Of {figure_texts.format_count(deletion.asked, 'session')} asked again after a deletion, not after typing"
    if not deletion.differed:
        return f"{asked}, all were answered alike"
    return f"{asked}, {deletion.differed:,} ({deletion.share:.1%}) were answered differently: the figures are of typing"


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
    """Return the verdict on the leading metric for this project; then what stands beside it: other kinds of tokens,
    times and failures, as far as they were judged. `shown` makes foreign text safe. `folders`: the paths of the two
    workspaces; None = their names are enough."""
    others = dict(_beside_lines(comparison, shown))
    keywords = others.pop("keywords", "")
    time, failures = _time_line(comparison, shown, folders), _failure_line(comparison, shown, folders)
    conditions = conditions_line(comparison.conditions, only_told=comparison.only_told, shown=shown)
    lines = [_leading_line(comparison, shown), conditions, keywords, time, failures, *others.values()]
    return [line for line in lines if line]


def _leading_line(comparison: Comparison, shown: Callable[[str], str]) -> str:
    name, counts = comparison.declared[0], comparison.counts[comparison.headline]
    leading = comparison.filters[comparison.headline][name]
    reason = explain_verdict(leading, _unit(comparison, name))
    line = (
        f"{figure_texts.HERE} ({shown(label(comparison.headline))}): {said(leading.verdict, marked=leading.marked)}. "
    )
    line += _change(comparison, leading)
    line += f" ({reason})" if reason else ""
    line += _imports_ahead(comparison, leading)
    # A quantile can move without any session doing so: then nothing is counted beside its verdict.
    moved = f"; better in {counts.wins:,}, worse in {counts.losses:,}" if leading.better is not None else ""
    line += f"{moved} of {figure_texts.format_count(counts.sessions, 'session')}." if moved else "."
    more = detection_text(comparison) if comparison.detection else needed_text(comparison)
    return f"{line} {more}" if more else line


def _imports_ahead(comparison: Comparison, leading: Difference) -> str:
    """Return how often the first suggestion adds an import if that moved with the leading metric; "" otherwise."""
    ahead = comparison.filters[comparison.headline].get("UnneededImportAt1")
    moved = ahead and ahead.base is not None and ahead.new is not None and leading.verdict == ahead.verdict
    if not ahead or not moved or leading.verdict not in {Verdict.BETTER, Verdict.WORSE}:
        return ""
    shares = f"{ahead.base:.1%} → {ahead.new:.1%}"
    return f", as the first suggestion adds an import that the code does not need in {shares} of the lists"


def needed_text(comparison: Comparison) -> str:
    """Return what the sessions could have shown, and how many it takes for one point; "" if nothing is uncertain."""
    name = comparison.declared[0]
    leading = comparison.filters[comparison.headline][name]
    if leading.detectable is None or leading.needed is None:
        return ""
    seen = f"Four times out of five, it would show a difference of {_size(leading.detectable, _unit(comparison, name))}"
    takes = f"one of 1 pp takes about {figure_texts.format_count(leading.needed, 'session')} of the project"
    if leading.needed >= comparison.population:
        takes = f"one of 1 pp takes all {comparison.population:,}, with --repeat 2"
        # What answers differ by is left after all sessions were asked.
        takes = (
            f"all {comparison.population:,} do not show one of 1 pp, since answers differ" if leading.noise else takes
        )
    return f"{seen}; {takes}."


def _change(comparison: Comparison, leading: Difference) -> str:
    """Return both figures of the leading metric, and their difference."""
    name, unit = comparison.declared[0], _unit(comparison, comparison.declared[0])
    return f"{name} {amount(leading.base, unit)} → {amount(leading.new, unit)}, {change(leading.difference, unit)}"


def _beside_lines(comparison: Comparison, shown: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield each group of kinds beside the headline's with a line about it. What is not offered at all has no ranks."""
    base, new = _names(comparison, shown)
    for group, part in figure_texts.beside(comparison.headline, comparison.filters).items():
        counts, figures = comparison.counts[part], comparison.filters[part]
        leading, recall = figures[comparison.declared[0]], figures.get("Recall")
        if not counts.sessions or leading.difference is None:
            continue
        # An engine that never offers the group has no ranks: a verdict on them would mislead.
        offers = (recall is None or recall.base != 0, recall is None or recall.new != 0)
        moved = f"better in {counts.wins:,}, worse in {counts.losses:,} of {counts.sessions:,}"
        text = {
            (True, True): f"{said(leading.verdict, marked=leading.marked)}. {_change(comparison, leading)}; {moved}",
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


def _failure_texts(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> list[str]:
    sides = (comparison.base, comparison.new)
    where = folders or tuple(side.workspace for side in sides)
    names = _names(comparison, shown)
    return [
        f"{name} {_failure_text(side.failures, comparison.paired)} ({shown(f'ci-eval show {folder} {example}')})"
        for side, folder, name in zip(sides, where, names, strict=True)
        if side.failures and (example := side.failures.example)
    ]


def _failure_text(failures: Failures, pairs: int) -> str:
    """Return at how many of the pairs an engine failed, and in how many rounds."""
    (status, _), *others = sorted(failures.statuses.items(), key=lambda item: (-item[1], item[0]))
    what = "failed at" if others else STATUS_WORDS.get(status, "failed at")
    text = f"{what} {failures.sessions:,} of {figure_texts.format_count(pairs, 'session')}"
    if failures.rounds == 1:
        return text
    if failures.always == failures.sessions:
        return f"{text}, in {failures.rounds} of {failures.rounds} rounds"
    return f"{text}, {failures.always:,} of them in all {failures.rounds} rounds"


def _failure_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    if comparison.failures is None:
        return ""
    verdict, p = comparison.failures.verdict, comparison.failures.p
    sides = ", ".join(
        f"{name} failed in {side.failures.sessions if side.failures else 0:,}"
        for name, side in (("base", comparison.base), ("new", comparison.new))
    )
    sessions = figure_texts.format_count(comparison.paired, "session")
    line = (
        f"Failures: {said(verdict, marked=comparison.failures.marked)} ({sides} of {sessions}, sign test p = {p:.3f})"
    )
    # The line about times has these texts already.
    texts = [] if _is_timed(comparison) else _failure_texts(comparison, shown, folders)
    return f"{'; '.join([line, *texts])}. They count as misses."


def _is_timed(comparison: Comparison) -> bool:
    median = comparison.filters[comparison.headline].get(TRENDS[0])
    return median is not None and median.verdict is not Verdict.NOT_COMPARABLE


def _time_line(comparison: Comparison, shown: Callable[[str], str], folders: tuple[str, str] | None) -> str:
    if not _is_timed(comparison):
        return ""
    median, high = (comparison.filters[comparison.headline][name] for name in TRENDS)
    base, new = _names(comparison, shown)
    faster = {Verdict.BETTER: new, Verdict.WORSE: base}.get(median.verdict)
    verdict = f"{faster} is faster at the median" if faster else said(median.verdict)
    failed = _failure_texts(comparison, shown, folders)
    return (
        f"Time: {'; '.join([*failed, verdict])}. Median {amount(median.base, 'ms')} → {amount(median.new, 'ms')}, "
        f"95 % of the lookups within {amount(high.base, 'ms')} → {amount(high.new, 'ms')}."
    )


def elsewhere_line(comparison: Comparison) -> str:
    """Return the verdict on the leading metric for other code."""
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
    unit = next(info.unit for info in comparison.metrics if info.name == detection.metric)
    target = f"wanted: {_size(detection.wanted, unit)} of {detection.metric}, with power {detection.power:.0%}"
    if detection.reached is None:
        return f"Detectable: nothing, since {detection.metric} has no figure ({target})."
    if not detection.reached:
        return f"Detectable: any difference in this project, since all its sessions were asked ({target})."
    why = ""
    if detection.reached > detection.wanted and detection.most and comparison.paired < comparison.population:
        why = f"; at most {detection.most:,} sessions were asked: --detect {detection.wanted * 100:g}pp asks more"
    elif detection.reached > detection.wanted and comparison.paired == comparison.population:
        why = "; all sessions were asked, but answers differ from round to round: more --rounds show more"
    return f"Detectable: {_size(detection.reached, unit)} ({target}{why})."


def _size(difference: float, unit: str) -> str:
    return change(difference, unit).lstrip("+")


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
