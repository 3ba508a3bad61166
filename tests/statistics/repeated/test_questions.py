"""Second questions bound how far a figure asked once may waver."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import Determinism, Kind, Properties, SessionScore, Status
from ci_eval.core.statistics.repeated.questions import SecondQuestions, most

SESSION = SessionScore(
    id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=Kind.VARIABLE), status=Status.OK,
    again=1,
)  # fmt: skip
DIFFERENT = SessionScore(
    id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=Kind.VARIABLE), status=Status.OK,
    again=1, differing=1,
)  # fmt: skip


def test_questions_are_counted_by_session_and_by_file() -> None:
    questions, other = SecondQuestions(), SecondQuestions()
    questions.add([SESSION, DIFFERENT, DIFFERENT])
    questions.add([])
    other.add([SESSION])
    questions.add_all(other)
    assert questions.sessions == Determinism(asked=4, differed=2)
    assert questions.files == Determinism(asked=2, differed=1)


@pytest.mark.parametrize(("differed", "poisson"), [(0, 2.996), (1, 4.744), (3, 7.754), (10, 16.962)])
def test_the_bound_on_a_share_is_at_least_that_of_poisson(differed: int, poisson: float) -> None:
    """Recorded: scipy 1.17 `chi2.ppf(0.95, 2 * differed + 2) / 2`."""
    assert poisson <= 1000 * most(Determinism(asked=1000, differed=differed)) <= 1.3 * poisson


def test_the_more_files_the_less_a_figure_may_waver() -> None:
    questions = SecondQuestions(Determinism(asked=20), Determinism(asked=15))
    few, many = (questions.bound(np.full(files, 10.0), 1.0).variance[0] for files in (20, 500))
    # Of 15 files, up to 3 may answer otherwise: 3/15 / 2 / files.
    assert (few, many) == pytest.approx((0.2 / 2 / 20 if 0.2 / 2 / 20 < (0.15 / 1.96) ** 2 else 0, 0.2 / 2 / 500))
