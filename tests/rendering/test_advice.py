"""What a reader must know to judge the figures."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.base.quoting import abbreviate_names
from ci_eval.core.model import Estimate, Evaluation
from ci_eval.core.model.engine import Condition, Determinism, MachineState, SentConfiguration
from ci_eval.rendering.advice import (
    busy_text,
    collect_warnings,
    conditions_line,
    configuration_rows,
    sentence,
)
from ci_eval.rendering.verdicts import populations
from tests.reports.samples import small


def told(**lacking: int) -> str:
    figures: Evaluation = replace(small().evaluation(), lacking=lacking)
    return " ".join(collect_warnings(figures))


def test_a_filter_that_no_session_passes_is_named() -> None:
    figures = small().evaluation()
    nothing = replace(next(iter(figures.filters.values())), sessions=0)
    (said,) = collect_warnings(replace(figures, filters={**figures.filters, "prefix=9": nothing, "names": nothing}))
    assert said == "no session passes the filter prefix=9"


def test_packages_that_are_not_installed_are_named_with_what_to_do() -> None:
    assert told() == ""
    assert told(flask=3).startswith("imports of 1 package cannot be resolved: flask. ")
    assert "--dependencies" in told(flask=3)
    assert "imports of 7 packages cannot be resolved: a, b, c, d, e, 2 more." in told(**dict.fromkeys("abcdefg", 1))


def test_packages_with_one_remedy_share_its_sentence() -> None:
    figures: Evaluation = replace(
        small().evaluation(),
        lacking={"acme": 3, "x": 1, "y": 1},
        remedies={"acme": "in here", "x": "away", "y": "away"},
    )
    (said,) = collect_warnings(figures)
    assert said.startswith("imports of 3 packages cannot be resolved: acme, x, y. ")
    assert said.endswith("acme: in here; x, y: away")


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
    whole = replace(small().evaluation(), population=180, repeats=alike, is_function=True)
    assert "exact" in " ".join(populations(whole))
    assert "exact" not in " ".join(populations(replace(whole, is_function=False)))
    assert "59% of the source could not be read" in " ".join(populations(replace(whole, unparsable=0.59)))
    assert "exact" not in " ".join(populations(replace(whole, unparsable=0.59)))


def test_little_that_could_not_be_read_is_not_worth_a_warning() -> None:
    assert collect_warnings(replace(small().evaluation(), unparsable=0.009)) == []


@pytest.mark.parametrize(
    ("hits", "over"),
    [
        (Estimate(value=1.0, n=8), "the judge's figures are over 8 reviews with a verdict"),
        (None, "no comment has a verdict"),
    ],
)
def test_verdicts_that_could_not_be_read_are_named_even_if_others_could(hits: Estimate | None, over: str) -> None:
    evaluation = small().evaluation()
    (name, figures), *others = evaluation.filters.items()
    metrics = {"Unscored": Estimate(value=2.0, n=10), **({"HitAt1": hits} if hits else {})}
    figures = replace(figures, metrics=metrics)
    warnings = " ".join(collect_warnings(replace(evaluation, filters={name: figures, **dict(others)})))
    assert "the judge's verdict on 2 comments could not be read" in warnings
    assert f"so {over}:" in warnings


@pytest.mark.parametrize(
    ("name", "base", "new", "said"),
    [
        ("autoImport", "off", None, "base had `autoImport: off`, new did not"),
        ("settings.a", None, "1", "new had `settings.a: 1`, base did not"),
        ("limits.timeout", "10.0", "5.0", "base had `limits.timeout: 10.0`, new `limits.timeout: 5.0`"),
        (
            "dependencies",
            "told",
            "not told",
            "base had the paths of the packages that the project needs, new did not",
        ),
    ],
)
def test_a_difference_is_said_of_both_sides(name: str, base: str | None, new: str | None, said: str) -> None:
    assert sentence([Condition(name=name, base=base, new=new)]) == said


def test_of_many_differences_the_sentence_names_three() -> None:
    many = [Condition(name=f"settings.{number}", base="x" * 500, new=None) for number in range(5)]
    said = conditions_line(many, only_told=True)
    assert said.startswith("The engine is the same, the runs differ only in its configuration: base had `settings.0")
    assert said.endswith("and 2 more, which the report lists.")
    assert len(said) < 700
    assert not conditions_line([], only_told=False)


def test_a_report_has_a_row_for_each_part_that_there_is() -> None:
    sent = SentConfiguration(
        arguments=("serve", "-x"), settings={"a": {"b": 1}}, limits={"timeout": 10.0}, auto_import="on"
    )
    rows = dict(configuration_rows(sent))
    assert rows == {
        "Auto-import": "on",
        "Dependencies": "none",
        "Arguments": "serve -x",
        "Settings": '{"a":{"b":1}}',
        "Limits": "timeout 10",
    }
    assert configuration_rows(None) == []


def test_of_a_busy_machine_a_sentence_says_so_and_why() -> None:
    busy = MachineState(load=14.2, pressure=0.93, cores=2, busy=True)
    assert busy_text(busy).startswith(
        "The machine was busy (load 14.2 on 2 cores, for 93% of the time something waited"
    )
    assert not busy_text(MachineState(load=0.1, cores=2))
