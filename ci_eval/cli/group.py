"""The group that all commands belong to, and the names of all commands.

Each command is in a module of this package that is imported only when the command runs. Otherwise help, shell
completion and small commands would wait for the imports of all commands."""

from __future__ import annotations

import ast
import os
import re
from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import BashComplete, CompletionItem, split_arg_string

from ci_eval import __version__
from ci_eval.ci.console import OUTPUT
from ci_eval.ci.host import HOSTS

FILE = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)

COMMANDS = {
    "answers": "answers",
    "ci": "ci",
    "comparisons": "compare compare-engines merge site sweep",
    "datasets": "dataset",
    "exchange": "export import",
    "misses": "bisect cases causes reduce",
    "models": "expect export-ranker fit-user-model generate-ml-logs grade import-ranker rerank train-ranker "
    "train-recommender",
    "runs": "actions evaluate interpret report show",
    "starting": "init",
    "views": "doctor list plan plan-logs schema",
}
"""Module → its commands."""
NAMES = frozenset(name for names in COMMANDS.values() for name in names.split())


def read_summaries() -> dict[str, str]:
    """Return the first sentence of the help of each command."""
    summaries = {}
    for module in COMMANDS:
        # The source is read, since the imports of all commands take much longer.
        tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            text = " ".join((ast.get_docstring(function) or "").split())
            for call in (node for node in function.decorator_list if isinstance(node, ast.Call)):
                if ast.unparse(call.func) in {"cli.command", "cli.group"}:
                    name = ast.literal_eval(call.args[0]) if call.args else function.name
                    summaries[name] = re.split(r"(?<=[.?])( |$)", text)[0]
    return summaries


GROUPS = {
    "Begin": "init doctor list",
    "Evaluate one engine": "evaluate show causes report",
    "Compare": "compare compare-engines sweep",
    "In CI": "ci plan merge site",
    "Rank suggestions": "generate-ml-logs train-ranker rerank",
}
"""The commands that help shows, in the order in which they are used. --help-all shows the others too."""
OPTION_GROUPS = {
    "What is evaluated": "config project language dataset task dependencies",
    "Engine": "engine engine_command engine_like completion_type model user_model base_set new_set trust",
    "How much": "sessions everything precision detect power seed rounds shard reuse",
    "Judging": "gates undecided filters title",
    "Result": "output resume history opening",
}
"""The groups of options in help, for commands with many options. Other options follow under Further."""
MANY_OPTIONS = 12
"""Help groups the options of a command that has at least this many."""


EXAMPLES = """\b
Examples:
  ci-eval evaluate                                     the demo
  ci-eval evaluate --project pypi:flask==3.0.3         jedi over flask
  ci-eval evaluate --project path:. --engine words     a baseline, your code
  ci-eval evaluate configs/python.yaml --output night  what a nightly runs
  ci-eval evaluate --resume --output night             resume a killed run
"""


def _set_loudness(_context: click.Context, option: click.Parameter, is_set: bool) -> None:
    if is_set:
        os.environ[OUTPUT] = option.name or ""


def _set_ci(_context: click.Context, _option: click.Parameter, host: str | None) -> None:
    if host:
        os.environ["CI_EVAL_CI"] = host


def _shared_options(*, hidden: bool = False) -> list[click.Option]:
    ci = click.Option(
        ["--ci"],
        envvar="CI_EVAL_CI",
        type=click.Choice(["auto", *sorted(host.name for host in HOSTS), "none"]),
        expose_value=False,
        hidden=hidden,
        callback=_set_ci,
        help="The CI that gets progress and results. Default: the one whose variables are set (or CI_EVAL_CI).",
    )
    helps = {
        "quiet": "Print no progress, only results, warnings and errors.",
        "verbose": "Also print what was prepared, how long stages took, whose CPU, and where errors come from.",
    }
    loudness = [
        click.Option(
            [f"-{name[0]}", f"--{name}"],
            is_flag=True,
            expose_value=False,
            hidden=hidden,
            callback=_set_loudness,
            help=text,
        )
        for name, text in helps.items()
    ]
    return [ci, *loudness]


class Commands(click.Group):
    """A group whose commands also take --ci, -q and -v, and whose help shows summaries in full."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command with the options --ci, -q and -v; see `click.Group.add_command`."""
        if not isinstance(cmd, click.Group):
            # The help of the group has these options, so they are hidden in the help of each command.
            own = {name for option in cmd.params for name in option.opts}
            # `init --ci` names the CI to write files for, not the CI that the command runs in.
            cmd.params += [option for option in _shared_options(hidden=True) if not own.intersection(option.opts)]
        super().add_command(cmd, name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse bytes that are not UTF-8; see `click.Group.parse_args`."""
        # Arguments are stored in the manifest, which is JSON.
        for argument in args:
            shown = argument.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            if shown != argument:
                advice = "rename the folder, or give a symbolic link to it"
                raise click.UsageError(f"{shown} has bytes that are not UTF-8, so no report can name it: {advice}")
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module. If no module has it, import all, so that similar names are suggested."""
        for module in [module for module, names in COMMANDS.items() if cmd_name in names.split()] or COMMANDS:
            import_module(f"{__package__}.{module}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write summaries in full. click.Group would cut each to a line, and import all commands."""
        groups = {title: names.split() for title, names in GROUPS.items()}
        further = sorted(NAMES.difference(*groups.values()))
        summaries = read_summaries()
        for title, names in (groups | ({"Further": further} if ALL_SHOWN in ctx.meta else {})).items():
            with formatter.section(title):
                formatter.write_dl([(name, summaries[name]) for name in names])
        if ALL_SHOWN not in ctx.meta:
            formatter.write_text(f"{len(further)} further commands: ci-eval --help-all")


ALL_SHOWN = f"{__name__}.all"
"""The key in a context's `meta` that tells help to show all commands."""


def _show_all(context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    if is_set:
        context.meta[ALL_SHOWN] = True
        click.echo(context.get_help())
        context.exit()


class GroupedCommand(click.Command):
    """A command whose help groups its options if there are many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in the groups of OPTION_GROUPS; see `click.Command.format_options`."""
        lines = {param.name: line for param in self.get_params(ctx) if (line := param.get_help_record(ctx))}
        if len(lines) < MANY_OPTIONS:
            super().format_options(ctx, formatter)
            return
        groups = {title: names.split() for title, names in OPTION_GROUPS.items()}
        groups["Further"] = [name for name in lines if name and not any(name in names for names in groups.values())]
        for title, names in groups.items():
            if known := [lines[name] for name in names if name in lines]:
                with formatter.section(title):
                    formatter.write_dl(known)


Commands.command_class = GroupedCommand


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(__version__, prog_name="ci-eval")
def cli() -> None:
    """Measure code completion: replay the typing of real code against a completion engine."""


SHOW_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show all commands."
)
cli.params += [*_shared_options(), SHOW_ALL]


def find_command(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command, name
    return command


class Bash(BashComplete):
    """A completion for bash. bash splits KEY=VALUE into three words at `=`, and replaces only the value, so only the
    value is returned."""

    _kept = ""
    """The part of the word that bash keeps: KEY=."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the word to complete, and this word; see `BashComplete.get_completion_args`."""
        place = int(os.environ["COMP_CWORD"])
        words = [*split_arg_string(os.environ["COMP_WORDS"]), ""][: place + 1]
        whole: list[str] = []
        follows_equals = False
        for word in words:
            if whole and (follows_equals or word == "="):
                whole[-1] += word
            else:
                whole.append(word)
            follows_equals = word == "="
        if whole[-1] != words[-1]:
            self._kept = whole[-1][: whole[-1].rindex("=") + 1]
        return whole[1:-1], whole[-1]

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value.removeprefix(self._kept)}"
