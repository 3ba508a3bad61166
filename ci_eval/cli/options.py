"""The options that several commands share: what is evaluated, with which engine, and where the result goes."""

from __future__ import annotations

import os
import re
import webbrowser
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import fields, replace

from ci_eval.ci import Screen
from ci_eval.cli import completions
from ci_eval.cli.completions import Command, Decorator, add_named_option, add_settings_option
from ci_eval.cli.group import COUNT, FILE
from ci_eval.core import machine
from ci_eval.core.base.errors import CiEvalError, WorkspaceError
from ci_eval.core.config import Config, add_ladder, limit_sessions, load, override, patch, set_engine_command
from ci_eval.core.config.loading import View
from ci_eval.core.config.text import CONDITIONS
from ci_eval.core.workspace import Workspace
from ci_eval.fetch import schemes
from ci_eval.jobs.models import set_answer_mode
from ci_eval.jobs.runs import RunOptions, refuse_foreign, stored_config


class _Folder(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and "://" in value:
            self.fail(f"{value} is a URL: copy the workspace to or from it with the store's own client", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(path_type=Path)
PATCHED = ("task", "language", "project", "dataset", "dependencies", "completion_type", "model", "sessions", "seed")
"""The options whose values replace values of the configuration unchanged."""
OF_COMMAND = re.compile(r"engine\.(like|languageId)\s*=")
DEMO = Path(__file__).parents[1] / "core" / "config" / "demo.yaml"
THIS_IS_THE_DEMO = (
    "This is the demo, over a small project from PyPI. For the code in this folder, add --project path:. "
    "(and --language L if it is not Python); `ci-eval init` writes a configuration."
)


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    config: Path | None = None
    task: str | None = None
    language: str | None = None
    engine: str | None = None
    engine_command: str | None = None
    engine_like: str | None = None
    project: str | None = None
    dataset: str | None = None
    dependencies: bool | None = None
    completion_type: str | None = None
    model: Path | None = None
    sessions: int | None = None
    seed: int | None = None
    overrides: tuple[str, ...]

    def load(
        self, screen: Screen, resumed: Path | None = None, *, trusted: bool = False, ladder: bool = True
    ) -> Config:
        """Return the chosen configuration. Without a file, return that of the workspace `resumed`, whose engine
        command runs only if `trusted`. With `ladder`, several prefixes are used if none are configured. Raises
        WorkspaceError if `resumed` holds no run."""
        if self.config is None and resumed and (resumed / "manifest.json").is_file():
            # The variables in this file were replaced when the workspace was made, so no environment is needed.
            workspace = Workspace.open(resumed)
            stored_config(workspace)
            config = self._apply_options(workspace.config_path, {}, screen, ladder=False)
            instead = "choose an engine with --engine or a CONFIG"
            refuse_foreign(workspace, config, trusted=trusted, typed=self.engine_command is not None, instead=instead)
            return config
        if self._file == DEMO:
            if resumed:
                raise WorkspaceError(
                    f"{resumed} holds no run to resume: give the --output of a run, or name what to evaluate "
                    "(CONFIG, --project, --dataset) to begin a run there"
                )
            screen.say(THIS_IS_THE_DEMO)
        return self._apply_options(self._file, os.environ, screen, ladder=ladder)

    def load_and_limit(
        self, screen: Screen, resumed: Path | None = None, *, trusted: bool = False, everything: bool = False
    ) -> Config:
        """Return the configuration as `load` does, but with the usual number of sessions if none is set, or with all
        sessions if `everything`."""
        if everything and self.sessions:
            raise click.UsageError("--all and --sessions contradict each other: leave one of them out")
        config = self.load(screen, resumed, trusted=trusted)
        if everything:
            whole = replace(config.interpret, sessions_limit=None, session_probability=1.0)
            return replace(config, interpret=whole)
        # A stored configuration has the number of sessions with which its run began.
        stored = self.config is None and resumed and (resumed / "manifest.json").is_file()
        return config if stored or self.says_how_many() else limit_sessions(config)

    def says_how_many(self) -> bool:
        return self.sessions is not None or load(self._file, overrides=self._split_overrides()[1]).own_number

    def _split_overrides(self) -> tuple[list[str], list[str]]:
        """Return the overrides that are valid only with --engine-command (none without this option), and all others."""
        of_command = [setting for setting in self.overrides if self.engine_command and OF_COMMAND.match(setting)]
        return of_command, [setting for setting in self.overrides if setting not in of_command]

    @property
    def _file(self) -> Path | None:
        return self.config or (None if self.project or self.dataset else DEMO)

    def _apply_options(
        self, path: Path | None, environment: Mapping[str, str], screen: Screen, *, ladder: bool
    ) -> Config:
        of_command, others = self._split_overrides()
        loaded = load(path, engine=self.engine, overrides=others, environment=environment)
        for warning in loaded.warnings:
            screen.warn(warning)
        chosen = patch(loaded.config, **{name: getattr(self, name) for name in PATCHED})
        if self.engine_command is not None:
            if self.engine:
                raise click.UsageError("only one engine can be asked: leave out --engine or --engine-command")
            chosen = override(set_engine_command(chosen, self.engine_command, self.engine_like), of_command)
        elif self.engine_like:
            if chosen.engine.command is None:
                raise click.UsageError("--engine-like is for commands: add --engine-command, or drop --engine-like")
            chosen = replace(chosen, engine=replace(chosen.engine, like=self.engine_like))
        return add_ladder(chosen) if ladder and not loaded.own_prefix else chosen


SPECS = f"One of {', '.join(scheme.example for scheme in schemes.CATALOG.all())}."
DATASET = "Records for tasks that take some: a file of JSON lines, or https://HOST/FILE#sha256=HEX."
DEPENDENCIES = (
    "Whether to install the packages that the project needs, for the engine to see; none of their code runs. "
    "Default: if a lock or a registry names them."
)
MODEL = "The model file for the completion type ML (from `ci-eval train-ranker`) or PBN (from `train-recommender`)."
TRUST = "Run the command that the workspace's own configuration names as its engine."
GATE = (
    "A rule such as 'Recall >= 90%', or 'RecallAt1 >= -1pp' for a comparison. The exit code is 1 if it is broken. "
    "May be repeated."
)
SESSIONS = (
    "Evaluate N sessions, sampled over the whole project (interpret.sessionsLimit). Default: the configuration's "
    "number, or 1,000."
)
ALL = "Evaluate all sessions of the project."
SEED = "The seed of the sample and of everything else that is random (interpret.seed)."
COMMAND = "The command that starts your own language server, which is the engine."
LIKE = (
    "Treat --engine-command like this engine: same settings, variables, dependencies and waiting. Default: the "
    "engine whose program the command starts."
)
ENGINE = "An engine, see `ci-eval list engines`."
COMPLETION_TYPE = "How suggestions are ordered, see `ci-eval list completion-types`."
OVERRIDE = "Set a key of the configuration, dotted, to a YAML value; may be repeated."


def _add_all(command: Command, *options: Decorator) -> Command:
    # The decorator that is applied last is the first in the help.
    for option in reversed(options):
        command = option(command)
    return command


def add_choice_options(command: Command) -> Command:
    # click passes all options by name. Those that are fields of Choices are collected here.
    @wraps(command)
    def collect_choices(**values: Any) -> None:
        chosen = {field.name: values.pop(field.name) for field in fields(Choices)}
        command(Choices(**chosen), **values)

    return _add_all(
        collect_choices,
        click.argument("config", type=FILE, required=False),
        add_named_option("--language", "languages", metavar="L", help="A language, see `ci-eval list languages`."),
        add_named_option("--task", "tasks", metavar="NAME", help="The task of the engine, see `ci-eval list tasks`."),
        click.option("--engine-command", metavar="COMMAND", help=COMMAND),
        add_named_option("--engine-like", "engines", metavar="NAME", help=LIKE),
        add_named_option("--engine", "engines", metavar="NAME[@VERSION]", help=ENGINE),
        click.option("--project", metavar="SPEC", help=SPECS, shell_complete=completions.project),
        click.option("--dependencies/--no-dependencies", default=None, help=DEPENDENCIES),
        click.option("--dataset", metavar="FILE", help=DATASET),
        add_named_option("--completion-type", "completion-types", metavar="T", help=COMPLETION_TYPE),
        click.option("--model", type=FILE, metavar="FILE", help=MODEL),
        click.option("--sessions", type=COUNT, metavar="N", help=SESSIONS),
        click.option("--seed", type=int, metavar="N", help=SEED),
        add_settings_option("--set", "overrides", help=OVERRIDE),
    )


JOBS = "The number of worker processes; results do not depend on it. Default: one per core."
OUTPUT = "The new workspace. Default: a folder named by time."
VIEW = "A key of the configuration that changes nothing that was measured: reports.* and comparison.*; may be repeated."
CONDITION_NAMES = ", ".join(CONDITIONS)
FILTER = (
    "Report on the sessions that pass, such as `kind=METHOD_CALL prefix=1`; may be repeated, the first one leads. "
    f"Conditions: {CONDITION_NAMES}."
)
UNDECIDED = (
    "Whether undecided gates pass: those whose interval reaches to both sides of the limit. Default: keep, with a "
    "warning; `non-inferior` needs a proof, and breaks."
)


def _note_policy(context: click.Context, _option: click.Parameter, policy: str | None) -> None:
    context.meta["undecided"] = [f"undecided: {policy}"] if policy else []


def _add_policy(context: click.Context, _option: click.Parameter, gates: tuple[str, ...]) -> tuple[str, ...]:
    return (*gates, *context.meta["undecided"])


def add_gate_options(command: Command) -> Command:
    policies = click.Choice(["keep", "break"])
    return _add_all(
        command,
        click.option(
            "--gate",
            "gates",
            metavar="RULE",
            multiple=True,
            help=GATE,
            callback=_add_policy,
            shell_complete=completions.metric,
        ),
        # --undecided is eager, so that it is read before --gate, whose callback needs it.
        click.option(
            "--undecided", type=policies, help=UNDECIDED, is_eager=True, expose_value=False, callback=_note_policy
        ),
    )


def add_view_options(command: Command) -> Command:
    @wraps(command)
    def collect_view(
        *arguments: Any, filters: tuple[str, ...], title: str | None, overrides: tuple[str, ...], **values: Any
    ) -> None:
        command(*arguments, view=View(overrides=overrides, filters=filters, title=title), **values)

    return _add_all(
        collect_view,
        click.option("--filter", "filters", metavar="EXPR", multiple=True, help=FILTER),
        click.option("--title", metavar="TEXT", help="The name of the evaluation in reports and comparisons."),
        add_settings_option("--set", "overrides", help=VIEW),
    )


def add_open_option(command: Command) -> Command:
    return click.option("--open", "opening", is_flag=True, help="Show the HTML report in a browser.")(command)


def show_report(reports: Mapping[str, Path], screen: Screen) -> None:
    report = reports.get("html")
    if report and not webbrowser.open(report.absolute().as_uri()):
        screen.warn(f"no browser could be started; the report is {report}")


def end_with(folder: Path, trouble: CiEvalError | None, screen: Screen) -> None:
    screen.line(str(folder))
    if trouble:
        raise trouble


def _answers(context: click.Context, option: click.Parameter, is_set: bool) -> None:
    if is_set:
        if context.meta.setdefault("answers", option.name) != option.name:
            raise click.UsageError("--offline asks no endpoint, and --record asks again: give one of them")
        context.with_resource(set_answer_mode(record=option.name == "record"))


def add_answer_options(command: Command) -> Command:
    helps = {
        "--offline": "Ask no endpoint: take answers from the store alone.",
        "--record": "Ask endpoints again even if answers are stored, and store the new answers.",
    }
    options = [
        click.option(flag, is_flag=True, expose_value=False, callback=_answers, help=text)
        for flag, text in helps.items()
    ]
    return _add_all(command, *options)


def add_placement_options(command: Command) -> Command:
    return _add_all(
        add_answer_options(command),
        click.option("--jobs", type=COUNT, metavar="N", default=machine.cores, help=JOBS),
        click.option("--output", type=FOLDER, metavar="DIR", help=OUTPUT),
    )


def add_run_options(what: str = "run") -> Decorator:
    """Return a decorator that adds the options of RunOptions. Without --output, --resume is refused."""

    def add(command: Command) -> Command:
        @wraps(command)
        def collect_run(*arguments: Any, output: Path | None, jobs: int, resume: bool, **values: Any) -> None:
            screen = Screen()
            if resume and output is None:
                raise click.UsageError("--resume needs --output DIR, the folder to resume")
            if resume and output and not output.exists():
                screen.warn(f"{output} does not exist, so nothing is resumed: a new run begins")
            command(*arguments, run=RunOptions(output=output, jobs=jobs, resume=resume, screen=screen), **values)

        resuming = click.option("--resume", is_flag=True, help=f"Resume the interrupted {what} in --output.")
        return _add_all(add_placement_options(collect_run), resuming)

    return add
