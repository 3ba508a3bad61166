"""The list of commands, which help is made of, against the commands themselves."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from ci_eval.cli.group import GROUPS, NAMES, OPTION_GROUPS, cli, find_command, read_summaries

WHOLE = 1_000
"""More characters than any summary has."""


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_list_has_what_the_command_says_of_itself(name: str) -> None:
    assert read_summaries()[name] == find_command(name).get_short_help_str(WHOLE)


def test_no_command_is_missing_from_the_list() -> None:
    assert cli.get_command(click.Context(cli), "no-such") is None  # which has all modules imported
    assert set(cli.commands) == NAMES


def test_help_shows_the_commands_in_order_of_work_and_the_others_if_asked() -> None:
    usual, whole = (CliRunner().invoke(cli, [option]).output for option in ("--help", "--help-all"))
    listed = [name for names in GROUPS.values() for name in names.split()]
    assert len(listed) == 17
    assert [usual.index(f"\n  {name} ") for name in listed] == sorted(usual.index(f"\n  {name} ") for name in listed)
    assert {name for name in NAMES if f"\n  {name} " in usual} == set(listed)
    assert {name for name in NAMES if f"\n  {name} " in whole} == NAMES


def test_the_options_of_evaluate_are_grouped_and_none_is_missing() -> None:
    output = CliRunner().invoke(cli, ["evaluate", "--help"]).output
    places = [output.index(f"{title}:") for title in OPTION_GROUPS]
    assert places == sorted(places)
    names = [option.opts[-1] for option in find_command("evaluate").params if not getattr(option, "hidden", True)]
    assert all(name in output for name in names)


def imported(*arguments: str) -> set[str]:
    """The modules that the command line imports for these arguments."""
    program = "import sys; from ci_eval.cli.group import cli; cli.main(sys.argv[1:], standalone_mode=False)"
    program += "; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_no_command() -> None:
    assert not {name for name in imported("--help") if name.startswith(("ci_eval.jobs", "numpy", "jedi", "requests"))}


def test_what_takes_long_to_import_is_imported_where_it_is_used() -> None:
    assert not imported("evaluate", "--help") & {"git", "jedi", "requests", "pyarrow", "jinja2"}


def test_a_command_imports_no_other_one() -> None:
    modules = imported("answers", "--help")
    assert "ci_eval.cli.answers" in modules
    assert not modules & {"ci_eval.cli.datasets", "ci_eval.cli.comparisons", "ci_eval.core.compare"}
