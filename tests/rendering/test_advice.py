"""What a reader must know to judge the figures."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.model import Estimate, Evaluation
from ci_eval.core.model.footprint import Determinism
from ci_eval.core.rendering.advice import abbreviate_names, collect_warnings
from ci_eval.core.rendering.verdicts import populations
from tests.reports.samples import small


def told(**lacking: int) -> str:
    figures: Evaluation = replace(small().evaluation(), lacking=lacking)
    return " ".join(collect_warnings(figures))


def test_packages_that_are_not_installed_are_named_with_what_to_do() -> None:
    assert told() == ""
    assert told(flask=3).startswith("imports of 1 package cannot be resolved: flask. ")
    assert "--dependencies" in told(flask=3)
    assert "imports of 7 packages cannot be resolved: a, b, c, d, e, 2 more." in told(**dict.fromkeys("abcdefg", 1))


def test_the_projects_own_modules_are_no_packages() -> None:
    assert told(**{".generated": 3}) == ""


def test_few_names_are_all_listed() -> None:
    assert abbreviate_names(["a", "b"]) == "a, b"


def test_what_could_not_be_read_is_said_with_the_worst_files() -> None:
    files = {"src/a.php": 0.97, "b.php": 0.2}
    said = " ".join(collect_warnings(replace(small().evaluation(), unparsable=0.59, unparsable_files=files)))
    assert "59% of the source could not be read" in said
    assert "src/a.php (97% of it), b.php (20% of it)" in said


def test_figures_are_not_called_exact_where_source_could_not_be_read() -> None:
    alike = Determinism(asked=180, differed=0)
    whole = replace(small().evaluation(), population=180, repeats=alike)
    assert "exact" in " ".join(populations(whole))
    assert "59% of the source could not be read" in " ".join(populations(replace(whole, unparsable=0.59)))
    assert "exact" not in " ".join(populations(replace(whole, unparsable=0.59)))


def test_little_that_could_not_be_read_is_not_worth_a_warning() -> None:
    assert collect_warnings(replace(small().evaluation(), unparsable=0.009)) == []


@pytest.mark.parametrize(
    ("hits", "over"),
    [
        (Estimate(value=1.0, n=8), "its figures are over 8 reviews with a verdict"),
        (None, "no comment has a verdict"),
    ],
)
def test_verdicts_that_could_not_be_read_are_named_even_if_others_could(hits: Estimate | None, over: str) -> None:
    evaluation = small().evaluation()
    (name, figures), *others = evaluation.filters.items()
    metrics = {"Unscored": Estimate(value=2.0, n=10), **({"HitAt1": hits} if hits else {})}
    figures = replace(figures, metrics=metrics)
    warnings = " ".join(collect_warnings(replace(evaluation, filters={name: figures, **dict(others)})))
    assert "no verdict that could be read on 2 comments" in warnings
    assert f"so that {over}:" in warnings
