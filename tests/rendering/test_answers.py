"""The answer of a result: the same words everywhere."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.model import Difference, GateResult, Verdict
from ci_eval.core.model.report import MetricInfo
from ci_eval.rendering.answers import answer, answer_html, answer_markdown, plain_titles, status, why_no_verdict
from tests.rendering.test_verdicts import compared, side

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
        (0.08, 200, 200, "though all of the project were asked; asking each several times may"),
    ],
)
def test_without_a_verdict_the_number_of_sessions_that_would_tell_is_said(
    detectable: float, asked: int, population: int, said: str
) -> None:
    leading = Difference(base=0.5, new=0.48, difference=-0.02, verdict=Verdict.NOT_SHOWN, detectable=detectable)
    assert said in why_no_verdict(leading, SHARE, asked, population)


def test_a_completion_type_is_named_only_where_it_differs() -> None:
    assert plain_titles(["a.py BASIC", "a.py BASIC, --fix"]) == ["a.py", "a.py --fix"]
    assert plain_titles(["BASIC", "FREQUENCY"]) == ["BASIC", "FREQUENCY"]
