"""What is evaluated of a project, in a word."""

from __future__ import annotations

from ci_eval.core.actions.chosen import spelled_files, spelled_filters
from ci_eval.core.model import ActionsConfig, FiltersConfig, Kind


def test_the_defaults_are_spelled_as_nothing() -> None:
    assert (spelled_filters(FiltersConfig()), spelled_files(ActionsConfig())) == ("", "")


def test_only_what_differs_is_spelled() -> None:
    assert spelled_filters(FiltersConfig(statement_types=(Kind.FIELD,))) == '{"statementTypes": ["FIELD"]}'
    assert spelled_files(ActionsConfig(max_file_size=9)) == '{"maxFileSize": 9}'
