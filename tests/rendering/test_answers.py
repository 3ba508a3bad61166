"""The answer of a result: the same words everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.model import Difference, GateResult, Verdict
from ci_eval.core.model.report import MetricInfo
from ci_eval.rendering.answers import (
    YARDSTICKS,
    answer,
    answer_html,
    answer_markdown,
    plain_titles,
    status,
    why_no_verdict,
)
from tests.rendering.test_verdicts import compared, difference, side
from tests.reports.samples import small

SHARE = MetricInfo(name="RecallAt1", summary="", unit="share", better="higher")
RED = GateResult(rule="RecallAt1 >= -1pp", passed=False, reason="the difference is -2.00 pp")


def test_the_answer_says_which_is_better_by_how_much_and_what_to_look_at() -> None:
    head, figures, why, look = answer(compared(side("zuban"), None, Verdict.BETTER))
    assert head == "? NOT TOLD APART   jedi → zuban   in this project"
    assert figures == "first in the list 50.0% → 48.0%   3 better · 5 worse of 75 sessions (names, one letter typed)"
    assert why == "No verdict: there is no figure on both sides."
    causes = "(ci-eval causes zuban --base jedi)"
    assert look == f"look at: 5 that got worse {causes} · 3 that got better   speed: faster, 4.7 times"


def test_a_broken_gate_comes_first_with_its_figure() -> None:
    result = replace(compared(side("zuban"), None, Verdict.BETTER), gates=(RED,))
    assert answer(result)[0] == "✗ RED   RecallAt1 >= -1pp   the difference is -2.00 pp"
    assert status(result).startswith("✗ RED, RecallAt1 >= -1pp, the difference is -2.00 pp · ")


def test_an_engine_that_failed_everywhere_comes_before_its_figures() -> None:
    result = compared(side("zuban"), None, Verdict.NOT_SHOWN)
    result = replace(result, new=replace(result.new, failed=result.new.sessions))
    assert answer(result)[0].endswith(" failed in all its sessions: fix that (ci-eval report zuban)")
    assert not any("failed in all" in line for line in answer(replace(result, new=result.base)))


def test_page_and_markdown_have_the_words_of_the_terminal() -> None:
    result = compared(side("zuban"), None, Verdict.BETTER)
    for text in (answer_html(result), answer_markdown(result)):
        assert all(" ".join(line.split()) in " ".join(text.split()) for line in answer(result))


@pytest.mark.parametrize(
    ("detectable", "asked", "population", "said"),
    [
        (
            0.08,
            200,
            100_000,
            "200 sessions cannot tell a difference of 2.0 points; about 3,200 would (--sessions 3200).",
        ),
        (
            0.08,
            200,
            2_000,
            "200 sessions cannot tell a difference of 2.0 points; all 2,000 of the project may (--all).",
        ),
        (0.08, 200, 200, "though all sessions of the project were asked; asking each several times may"),
    ],
)
def test_without_a_verdict_the_number_of_sessions_that_would_tell_is_said(
    detectable: float, asked: int, population: int, said: str
) -> None:
    leading = Difference(base=0.5, new=0.48, difference=-0.02, verdict=Verdict.NOT_SHOWN, detectable=detectable)
    assert said in why_no_verdict(leading, SHARE, asked, population)


@pytest.mark.parametrize(
    ("asked", "said"),
    [(200, "sessions that were not asked may differ (--all)"), (1856, "asking each several times may tell")],
)
def test_equal_figures_without_a_verdict_advise_only_what_is_left_to_ask(asked: int, said: str) -> None:
    leading = Difference(base=0.5, new=0.5, difference=0.0, verdict=Verdict.NOT_SHOWN, detectable=0.01)
    reason = why_no_verdict(leading, SHARE, asked, 1856)
    assert said in reason
    assert ("--all" in reason) is (asked < 1856)


def test_a_difference_beyond_chance_has_the_reason_of_its_rule() -> None:
    leading = Difference(base=0, new=0.75, difference=0.75, low=0.3, high=0.9, detectable=0.5)
    held = replace(leading, verdict=Verdict.NOT_SHOWN, why="9 sessions in 1 file changed: --repeat 2 shows which; more")
    assert why_no_verdict(held, SHARE, 45, 45) == ("No verdict: 9 sessions in 1 file changed: --repeat 2 shows which.")


@pytest.mark.parametrize(("ahead", "is_said"), [(Verdict.BETTER, True), (Verdict.NOT_SHOWN, False)])
def test_a_sentence_says_that_imports_stood_first(ahead: Verdict, *, is_said: bool) -> None:
    pair = compared(side("ty"), None, Verdict.NOT_COMPARABLE)
    pair.filters[pair.headline]["RecallAt1"] = difference(0.2, 0.8, Verdict.BETTER)
    pair.filters[pair.headline]["UnneededImportAt1"] = difference(0.7, 0.0, ahead)
    reason = "In 70.0% → 0.0% of the lists, the first suggestion adds an import that the code does not need."
    assert (answer(pair)[2] == reason) is is_said


def test_a_completion_type_is_named_only_where_it_differs() -> None:
    assert plain_titles(["a.py BASIC", "a.py BASIC, --fix"]) == ["a.py", "a.py --fix"]
    assert plain_titles(["BASIC", "FREQUENCY"]) == ["BASIC", "FREQUENCY"]


def test_the_yardsticks_are_the_measurements_of_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results" / "engines.md").read_text(encoding="utf-8")
    shares: dict[str, dict[str, float]] = {}
    for engine, language, share in re.findall(
        r"^\| (\S+) \| \S+ \| (\w+): \S+ \| 1 \| 500 \| \d+ \| [^|]+ \| ([\d.]+) ", text, re.MULTILINE
    ):
        shares.setdefault(language, {})[engine] = float(share)
    for language, said in YARDSTICKS.items():
        low, high = min(shares[language].values()), max(shares[language].values())
        ends = f"{low:.0f} to {high:.0f}" if f"{low:.0f}" != f"{high:.0f}" else f"{high:.0f}"
        named = [name for name in shares[language] if re.search(rf"\b{name}\b", said)]
        others = int(found[1]) if (found := re.search(r"(\d+) others", said)) else 0
        assert f" {ends}% in " in said
        assert len(named) + others == len(shares[language])


def test_what_is_good_is_said_of_the_same_questions_as_were_measured() -> None:
    sample = small().evaluation()
    known = replace(sample, client="vscode", filters={**sample.filters, "Prefix 1": sample.filters["ALL"]})
    assert answer(known)[-1].startswith(
        "good? 78.4% of all tokens are among the first 5 after one letter; a rough guide: "
    )
    for other in (
        replace(known, client="raw"),
        replace(known, language="ruby"),
        replace(known, filters=sample.filters),
    ):
        assert not any(line.startswith("good?") for line in answer(other))
