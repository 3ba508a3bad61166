"""Sum up a result in two or three lines, which are the same on the terminal, on pages, in comments and in statuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ci_eval.core.filters import label, standard_name
from ci_eval.core.model import (
    Comparison,
    Difference,
    EngineInfo,
    Evaluation,
    GateResult,
    MetricInfo,
    Overview,
    Ranking,
    Suite,
    Sweep,
    SweptRun,
    Verdict,
)
from ci_eval.core.model.units import TRENDS, amount, change, interval
from ci_eval.rendering import figures as figure_texts
from ci_eval.rendering.advice import conditions_line
from ci_eval.rendering.figures import NO_ESTIMATE, format_count
from ci_eval.rendering.markdowntext import code
from ci_eval.rendering.verdicts import sign

HEADS = {verdict: verdict.name for verdict in Verdict}
HEADS |= {Verdict.NOT_SHOWN: "NOT TOLD APART", Verdict.NOT_COMPARABLE: "NO VERDICT"}
WORDS = {"RecallAt1": "first in the list", "RecallAt5": "among the first 5", "Recall": "anywhere in the list"}
YARDSTICKS = {
    "cpp": "clangd 70% in leveldown",
    "go": "gopls 88% in cobra",
    "java": "jdt 75% in commons-lang3",
    "javascript": "typescript and 2 others 65 to 67% in eslint",
    "kotlin": "kotlin-ide-services 67% in kotlinx-coroutines",
    "php": "intelephense 51% in block-library",
    "python": "jedi, pyright and 6 others 55 to 79% in flask",
    "scala": "scala-presentation-compiler 56% in scala-library",
    "typescript": "typescript and 2 others 79% in rxjs",
}
"""RecallAt5 of all tokens after one typed letter with the client `vscode`, from docs/results/engines.md."""
LISTED_SESSIONS = 5
LISTED_PROJECTS = 3
MANY_TIMES = 100
MOST_SIGNS = 1_000
MANY_POINTS = 10
Answered = Evaluation | Comparison | Overview | Suite | Sweep


def answer(result: Answered) -> list[str]:
    match result:
        case Evaluation():
            return list(_evaluation_lines(result))
        case Comparison():
            return list(_comparison_lines(result))
        case Suite():
            return list(_suite_lines(result))
        case Sweep():
            return list(_sweep_lines(result))
        case _:
            return list(_ranking_lines(result.ranking)) if result.ranking else []


def status(result: Answered) -> str:
    return " · ".join(re.sub(r" {2,}", ", ", line) for line in answer(result)[:2])


def answer_html(result: Answered) -> Markup:
    lines = [Markup("<p>{}</p>\n").format(line) for line in answer(result)]
    return Markup('<div class="answer">\n{}</div>\n').format(Markup().join(lines)) if lines else Markup()


def answer_markdown(result: Answered) -> str:
    """Return the answer as lines of Markdown code, which makes foreign text harmless."""
    # Two spaces at the end of a line are a line break in Markdown.
    return "  \n".join(code(line.strip(), MOST_SIGNS) for line in answer(result))


def _evaluation_lines(evaluation: Evaluation) -> Iterator[str]:
    name, figures = figure_texts.shown_filter(evaluation)
    infos = [info for info in figure_texts.headline(evaluation.metrics) if info.name in figures.metrics]
    known = [info for info in infos if figures.metrics[info.name].value is not None]
    if not known or figure_texts.failed_everywhere(evaluation):
        return
    yield from _gate_lines(evaluation.gates)
    plain = [info for info in known if info.name in WORDS] or known[:3]
    texts = [f"{_word(info)} {amount(figures.metrics[info.name].value, info.unit)}" for info in plain]
    first = plain[0]
    if between := interval(figures.metrics[first.name], first.unit):
        texts[0] += f" ({between})"
    yield "   ".join([f"● {_with_kind(evaluation.title, evaluation.engine)}", *texts])
    of = f"of {format_count(figures.sessions, 'session')} ({label(name)})"
    share = figures.metrics[first.name].value or 0.0
    missed = round((1 - share) * figures.sessions)
    if first.name == "RecallAt1" and missed:
        kinds = {kind: own["RecallAt1"] for kind, own in figures.kinds.items()}
        misses = {kind: (1 - of_kind.value) * of_kind.n for kind, of_kind in kinds.items() if of_kind.value is not None}
        worst = max(misses, key=misses.__getitem__)
        of += (
            f"   look at: the {missed:,} that are not first, {round(misses[worst]):,} of them {_plain(worst)} "
            f"(ci-eval causes {evaluation.workspace})"
        )
    yield of
    # The known figures are for all kinds of tokens, after one letter, and for one client.
    all_kinds, known_figures = evaluation.filters.get(standard_name(None, 1)), YARDSTICKS.get(evaluation.language)
    recall = all_kinds.metrics.get("RecallAt5", NO_ESTIMATE).value if all_kinds else None
    is_alike = evaluation.client == "vscode" and evaluation.task == "completion"
    if known_figures and is_alike and recall is not None:
        yield (
            f"good? {amount(recall, 'share')} of all tokens are {WORDS['RecallAt5']} after one letter; "
            f"a rough guide: {known_figures}"
        )


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    name, counts = comparison.declared[0], comparison.counts[comparison.headline]
    leading = comparison.filters[comparison.headline][name]
    info = next(info for info in comparison.metrics if info.name == name)
    yield from _gate_lines(comparison.gates)
    if any(not gate.passed for gate in comparison.gates):
        yield from _look_at(comparison)
    sides = (comparison.base, comparison.new)
    for side in sides:
        if side.failed == side.sessions:
            yield f"✗ FAILED   {side.title} failed in all its sessions: fix that (ci-eval report {side.workspace})"
    titles = plain_titles([side.title for side in sides])
    named = " → ".join(_with_kind(title, side.engine) for title, side in zip(titles, sides, strict=True))
    yield f"{sign(leading.verdict, marked=leading.marked)} {HEADS[leading.verdict]}   {named}   in this project"
    texts = [f"{_word(info)} {amount(leading.base, info.unit)} → {amount(leading.new, info.unit)}"]
    if leading.low is not None and leading.high is not None and leading.low < leading.high:
        texts.append(f"({_points(info.unit, leading.low, leading.high)})")
    moved = f"{counts.wins:,} better · {counts.losses:,} worse " if leading.better is not None else ""
    yield "   ".join([*texts, f"{moved}of {format_count(counts.sessions, 'session')} ({label(comparison.headline)})"])
    ahead = comparison.filters[comparison.headline].get("UnneededImportAt1")
    # Unneeded imports explain a verdict only if both changed in the same direction.
    if ahead and ahead.verdict == leading.verdict and leading.verdict in {Verdict.BETTER, Verdict.WORSE}:
        shares = f"{amount(ahead.base, 'share')} → {amount(ahead.new, 'share')}"
        yield f"In {shares} of the lists, the first suggestion adds an import that the code does not need."
    if differing := conditions_line(comparison.conditions, only_told=comparison.only_told):
        yield differing.replace("`", "")
    looks = [f"{counts.losses:,} that got worse"] if counts.losses else []
    if looks and name == "RecallAt1":
        looks[0] += f" (ci-eval causes {comparison.new.workspace} --base {comparison.base.workspace})"
    if counts.wins:
        looks.append(f"{counts.wins:,} that got better")
    speed = f"speed: {_speed(comparison)}"
    if leading.verdict in {Verdict.NOT_SHOWN, Verdict.NOT_COMPARABLE}:
        estimated = comparison.population_estimated
        yield why_no_verdict(leading, info, comparison.paired, comparison.population, estimated=estimated)
    yield "   ".join([*([f"look at: {' · '.join(looks)}"] if looks else []), speed])


def why_no_verdict(
    leading: Difference, info: MetricInfo, asked: int, population: int | None, *, estimated: bool = False
) -> str:
    """Return a sentence that says why there is no verdict and, if known, how many sessions would suffice. `population`
    is the number of the project's sessions; None if `asked` counts only sessions of the headline."""
    size = abs(leading.difference or 0.0)
    if leading.detectable is None or leading.verdict is Verdict.NOT_COMPARABLE:
        return f"No verdict: {leading.why or 'there is no figure on both sides'}."
    if not size:
        same = "No verdict: both sides have the same figure, and"
        if population is not None and asked >= population:
            return f"{same} all sessions of the project were asked; asking each several times may tell (--repeat)."
        return f"{same} sessions that were not asked may differ (--all)."
    if leading.low is not None and leading.high is not None and (leading.low > 0 or leading.high < 0):
        # The interval excludes 0, so enough sessions were asked: another rule withholds the verdict.
        return f"No verdict: {leading.why.partition('; ')[0]}."
    # The number is rough: the measured difference counts as the true difference, and a small project needs fewer.
    needed = asked * (leading.detectable / size) ** 2
    points = _points(info.unit, size).lstrip("+")
    few = f"No verdict: {format_count(asked, 'session')} cannot tell a difference of {points}"
    if needed <= asked:
        return f"{few} from chance; about {2 * asked:,} would."
    digits = 10 ** (len(f"{needed:.0f}") - 2)
    about = round(needed / digits) * digits
    if population is None:
        return f"{few}; about {about:,} would: multiply --sessions by {needed / asked:.0f}."
    if about < population:
        return f"{few}; about {about:,} would (--sessions {about})."
    if asked < population:
        return f"{few}; all {'about ' * estimated}{population:,} of the project may (--all)."
    return f"{few}, though all sessions of the project were asked; asking each several times may (--rounds, --repeat)."


def _speed(comparison: Comparison) -> str:
    median = comparison.filters[comparison.headline].get(TRENDS[0])
    if median is None or median.verdict is Verdict.NOT_COMPARABLE:
        return "not judged (ci-eval compare-engines does)"
    if median.verdict is Verdict.NOT_SHOWN or not median.base or not median.new:
        return "not told apart"
    if median.verdict is Verdict.EQUIVALENT:
        return "equivalent"
    return f"{'faster' if median.verdict is Verdict.BETTER else 'slower'}, {_times(median.base, median.new)}"


def _times(one: float, other: float) -> str:
    ratio = max(one, other) / min(one, other)
    return f"{ratio:.1f} times" if ratio < MANY_TIMES else f"more than {MANY_TIMES} times"


def _gate_lines(gates: Sequence[GateResult]) -> Iterator[str]:
    for gate in gates:
        if not gate.passed:
            yield f"✗ RED   {gate.rule}   {'cannot tell: ' * (gate.word == 'undecided')}{gate.reason}"


def _look_at(comparison: Comparison) -> Iterator[str]:
    """Yield what to look at if a gate is broken: the commits since base, the worst kind and the worst sessions."""
    was, now = (side.revision[:12] for side in (comparison.base, comparison.new))
    since = f"since {comparison.base.started[:10]}{f' ({was}…{now})' if was and now and was != now else ''}"
    kinds = [part for part in comparison.parts if part.dimension == "kind" and part.losses]
    worst = max(kinds, key=lambda part: part.losses - part.wins, default=None)
    of = f"; worst: {_plain(worst.value)} ({worst.losses:,} of {worst.sessions:,} got worse)" if worst else ""
    yield f"{since}{of}"
    for change_ in comparison.regressions[:LISTED_SESSIONS]:
        ranks = f"{change_.base_rank or 'absent'} → {change_.new_rank or 'absent'}"
        yield f"  {change_.file}:{change_.line} {change_.expected}, rank {ranks} (session {change_.id})"


def _ranking_lines(ranking: Ranking) -> Iterator[str]:
    count, name = len(ranking.sides), ranking.declared[0]
    info = next(info for info in ranking.metrics if info.name == name)
    titles = plain_titles([side.title for side in ranking.sides])
    figures = [amount(of[name].value, info.unit) for of in ranking.figures]
    ordered = " · ".join(f"{title} {figure}" for title, figure in zip(titles, figures, strict=True))
    if ranking.ahead[0] == count - 1:
        yield f"▲ BEST   {titles[0]}   better than all others in this project"
    else:
        tied = [title for title, behind in zip(titles, ranking.behind, strict=True) if not behind]
        yield f"? NO WINNER   {', '.join(tied)} are not told apart in this project"
    yield f"{_word(info)}: {ordered}   of {format_count(ranking.sessions, 'session')} ({label(ranking.headline)})"
    rivals = [of for of, behind in zip(ranking.pairs[name][0], ranking.behind, strict=True) if of and not behind]
    if ranking.ahead[0] < count - 1 and rivals:
        # The most sessions are needed to tell the first engine from its nearest rival.
        nearest = min(rivals, key=lambda of: abs(of.difference or 0.0))
        yield why_no_verdict(nearest, info, ranking.sessions, None)
    pairs = ranking.pairs.get(TRENDS[0])
    if pairs is None:
        yield "speed: not judged (ci-eval compare-engines does)"
        return
    # An engine is the fastest if it was compared with all others and is better than each.
    wins = [sum(of is not None and of.verdict is Verdict.BETTER for of in row) for row in pairs]
    fastest = [place for place, won in enumerate(wins) if won == count - 1]
    if not fastest:
        # No engine is compared with itself, so `count` places are always empty.
        lacking = sum(of is None for row in pairs for of in row) > count
        yield f"speed: {'not every pair was judged (ci-eval compare-engines does)' if lacking else 'no winner'}"
        return
    medians = [(of.base, of.new) for of in pairs[fastest[0]] if of and of.base and of.new]
    # The second fastest engine has the smallest ratio.
    margin = f", {_times(*min(medians, key=lambda sides: max(sides) / min(sides)))}" if medians else ""
    yield f"fastest: {titles[fastest[0]]}{margin}"


def _suite_lines(suite: Suite) -> Iterator[str]:
    count = format_count(len(suite.projects), "project")
    for project in suite.projects:
        if project.trouble:
            yield f"✗ RED   {project.project.name}: {project.trouble}"
    if not suite.metrics:
        yield f"● {suite.title}   {count}"
        return
    info, title = suite.metrics[0], " → ".join(plain_titles(suite.title.split(" → ")))
    mean = suite.overall[info.name].mean
    if suite.compared:
        differences = [(project, project.differences[info.name]) for project in suite.projects]
        counts = Counter(of.verdict for _, of in differences)
        verdicts = ", ".join(f"{HEADS[verdict]} in {counts[verdict]:,}" for verdict in HEADS if counts[verdict])
        # One verdict leads if all projects have it, or if the others show no difference in the other direction.
        leading = [of for of in (Verdict.BETTER, Verdict.WORSE) if counts[of]] if len(counts) > 1 else [*counts]
        verdict = leading[0] if len(leading) == 1 else Verdict.NOT_SHOWN
        marked = any(of.marked for _, of in differences if of.verdict is verdict)
        yield f"{sign(verdict, marked=marked)} {verdicts} of {count}   {title}"
        known = [(project, of.difference) for project, of in differences if of.difference is not None]
        known.sort(key=lambda entry: -abs(entry[1]))
        texts = [f"{project.project.name} {_points(info.unit, size)}" for project, size in known]
        total, extreme = "no figure" if mean is None else _points(info.unit, mean), "largest differences"
    else:
        yield f"● {suite.title}   {count}"
        figures = [
            (of.figures.get(info.name, figure_texts.NO_ESTIMATE).value, of.project.name) for of in suite.projects
        ]
        known_figures = sorted((value, name) for value, name in figures if value is not None)
        texts = [f"{name} {amount(value, info.unit)}" for value, name in known_figures]
        total, extreme = amount(mean, info.unit), "lowest"
    if texts:
        yield f"{_word(info)}: {total} on average   {extreme}: {' · '.join(texts[:LISTED_PROJECTS])}"


def _sweep_lines(sweep: Sweep) -> Iterator[str]:
    def describe(run: SweptRun) -> str:
        values = zip(sweep.keys, run.values, strict=True)
        return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in values)

    info, first = sweep.metrics[0], sweep.runs[0]
    known = [(run, run.differences[info.name]) for run in sweep.runs if info.name in run.differences]
    counts = Counter(of.verdict for _, of in known)
    better = [(run, of) for run, of in known if of.verdict is Verdict.BETTER]
    if better:
        best, of = max(better, key=lambda entry: abs(entry[1].difference or 0.0))
        yield f"{sign(of.verdict, marked=of.marked)} BETTER   {describe(best)} than {describe(first)}   in this project"
        text = f"{amount(of.base, info.unit)} → {amount(of.new, info.unit)}"
    else:
        yield f"? NO BETTER RUN   none is shown to be better than the first, {describe(first)}, in this project"
        text = amount(first.figures[info.name].value, info.unit)
    runs = format_count(len(sweep.runs) - 1, "other run")
    yield f"{_word(info)} {text}   {counts[Verdict.BETTER]} better · {counts[Verdict.WORSE]} worse of {runs}"


def _with_kind(title: str, engine: EngineInfo) -> str:
    return f"{title}, a baseline" if engine.baseline and "baseline" not in title else title


def plain_titles(titles: Sequence[str]) -> list[str]:
    """Return the titles without the completion type BASIC if all of them have it."""
    plain = [re.sub(r" BASIC\b,?", "", title) for title in titles]
    return list(titles) if any(map(str.__eq__, titles, plain)) else plain


def _word(info: MetricInfo) -> str:
    return WORDS.get(info.name, info.name)


def _plain(kind: str) -> str:
    return kind.lower().replace("_", " ")


def _points(unit: str, *values: float) -> str:
    """Return a difference, or the two ends of its interval, with signs. Shares are in percentage points."""
    if unit != "share":
        return " to ".join(change(value, unit) for value in values)
    decimals = 0 if max(map(abs, values)) * 100 >= MANY_POINTS else 1
    return f"{' to '.join(f'{value * 100:+.{decimals}f}' for value in values)} points"
