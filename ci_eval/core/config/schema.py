"""The schema of a configuration: every key of the YAML file, its meaning, unit, default and allowed values.

A key of the file is the field's name in camelCase. The rules about several fields are in `rules.py`.
"""

# `ci-eval list keys` and the JSON schema show the docstrings of the sections and their fields to users.
from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.contracts import RunSettings, Task
from ci_eval.core.filters import ReportFilters, report_filters
from ci_eval.core.model import Kind
from ci_eval.core.model.endpoints import EndpointConfig
from ci_eval.core.model.settings import (
    ActionsConfig,
    Confine,
    Count,
    QueriesConfig,
    RunConfig,
    Section,
    SessionsFilter,
    Share,
    Text,
    UserModelConfig,
)

BY_MODEL = ("ML", "PBN")
"""The completion types that order by a model's file (`interpret.rankingModel`)."""


class EngineConfig(EndpointConfig, frozen=True):
    """Which engine answers; the file may also say `NAME` or `NAME@VERSION`. A `command` is any language server, an
    `endpoint` any language model."""

    name: Text = "jedi"
    """Name of an engine, see `ci-eval list engines`."""
    version: Text | None = None
    """The engine's version; None = the one ci-eval was tested with. Of a `command`, what the reports call it."""
    command: Annotated[tuple[Text, ...], Meta(min_length=1)] | None = None
    """A language server of your own: program and arguments; `{root}` stands for the project's folder."""
    language_id: Text | None = None
    """What the protocol calls the language; None = by the suffix of each file, as editors do."""
    like: Text | None = None
    """Of a `command`: the engine whose settings, variables and waiting it gets. None = the one that the name of the
    program tells, if any."""
    initialize_timeout: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    """Seconds that a language server may take to answer `initialize`; after two failed starts it is given up."""
    ready: Annotated[float, Meta(ge=0, le=86_400)] = 120.0
    """Seconds, from each start, that are waited for work that a language server announces (`$/progress`): before the
    first question, and before questions that came in between are asked again."""
    settings: dict[str, Any] = {}
    """What a language server gets when it asks for its configuration, by section; on top of what ci-eval sends."""
    options: dict[str, Any] = {}
    """The `initializationOptions` of a language server, on top of ci-eval's; of other engines, their options."""
    arguments: tuple[Text, ...] = ()
    """Arguments of a language server behind those that ci-eval gives; `--name=…` replaces the one of that name."""
    environment: dict[str, str | None] = {}
    """Environment variables of a language server; null = the value that the variable has for ci-eval, which is written
    down nowhere."""
    reads: tuple[Text, ...] = ()
    """Folders that the engine may read and run beside its own and the project's, where it is confined."""


class ProjectConfig(Section, frozen=True):
    """Whose code is completed; the file may also say just the SPEC."""

    spec: str = ""
    """A project SPEC such as `pypi:NAME==VERSION` or `path:DIR`."""
    dependencies: bool | None = None
    """Whether the packages it needs are installed for the engine to see; none of their code is run. None = where
    that is safe and cheap (a lock, or the registry the project comes from, names them), and for engines that suggest
    next to nothing without them, see `ci-eval list engines --format json`."""
    name: Text | None = None
    """What the project is called; the ids of its sessions depend on it. None = as its SPEC says; of a folder, as its
    Git remote or the CI says."""


class DatasetConfig(Section, frozen=True):
    """The records of a task that is not about source code; the file may also say just the SPEC."""

    spec: str = ""
    """A file of JSON lines, or `https://HOST/FILE#sha256=HEX`."""
    cluster: str = ""
    """Name of the field by which records are sampled together, such as `meta.repository`; "" = each by itself."""


class InterpretConfig(Section, frozen=True):
    """Stage 2: actions and engine to sessions."""

    completion_type: Text = "BASIC"
    """The completion type: what orders the engine's candidates; see `ci-eval list completion-types`."""
    client: Literal["vscode", "editor", "raw"] = "vscode"
    """What stands between engine and person: the list of Visual Studio Code, ci-eval's former rule (`editor`), or
    nothing (`raw`)."""
    session_probability: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Share of the planned sessions that are evaluated, drawn with `seed`."""
    sessions_limit: Count | None = None
    """Number of sessions to stop after; None = all."""
    seed: int = 0
    """Everything random derives from it."""
    auto_import: Literal["default", "on", "off"] = "default"
    """Whether engines suggest names that would first have to be imported: as they do for users who change nothing, or
    on, or off."""
    timeout: Annotated[float, Meta(gt=0, le=86_400)] = 10.0
    """Seconds one completion may take."""
    user_model: UserModelConfig | None = None
    """Who asks and takes; None = completion is asked for as `actions.strategy.prefix` says."""
    save_logs: bool = False
    """Whether every suggestion is logged with its features, for training rankers."""
    log_format: Annotated[tuple[Text, ...], Meta(min_length=1)] = ("parquet",)
    """What logs are written as: tables (needs the extra `ml`), lines of JSON, or the events of the JetBrains plugin."""
    train_test_split: Annotated[int, Meta(ge=1, le=99)] = 70
    """Percent of the files (or projects) whose sessions are logged for training; the others are for validation."""
    test_split: Annotated[int, Meta(ge=0, le=98)] = 0
    """Percent of them that are kept for a last test, of which no training may know; they are taken from those for
    validation."""
    log_context: Annotated[int, Meta(ge=0, le=2_000)] = 0
    """Characters before and behind the token that logs have beside each list."""
    split_by: Literal["file", "project"] = "file"
    """What is never split between training, validation and test: the sessions of a file, or of a project."""
    ranking_model: Text | None = None
    """The model file that the completion type ML (`ci-eval train-ranker`) or PBN (`ci-eval train-recommender`) orders
    by."""
    max_suggestions: Count = 1000
    """Number of suggestions stored per lookup; ranks are counted among all of them."""
    memory_limit: Annotated[int, Meta(ge=0)] = 4_000_000_000
    """Bytes that the engine may hold, with all processes it starts; 0 = no limit."""
    confine: Confine = "auto"
    """Whether the engine's processes are confined: as far as this machine can (auto); or nothing is evaluated where
    anything stays open (required); or they run as any program of yours (off)."""
    trace: bool = False
    """Whether what is said to the engine and by it is kept with each session, shortened."""
    allowed_failures: Share = 0.05
    """Share of the evaluated sessions that may fail before the run counts as failed."""
    allowed_empty: Share = 0.95
    """Share of the evaluated sessions without a suggestion at which the run counts as failed; 1 = at none."""


class ReportsConfig(Section, frozen=True):
    """Stage 3: sessions to metrics and reports."""

    evaluation_title: Text | None = None
    """Name of this evaluation in reports and comparisons; None = made of engine and completion type."""
    headline: Text = "names"
    """The sessions that headlines, gates, comparisons and trends are about: `names` (calls, fields, variables, types,
    arguments), `imports`, `keywords`, `all`, or a filter's name such as `Prefix 1`. A group means one letter typed, if
    that was asked. Tasks other than completion have no groups: there, `names` means all."""
    sessions_filters: tuple[SessionsFilter, ...] = ()
    """Reports over parts of the sessions, beside the one over all."""
    default_metrics: tuple[Text, ...] | None = None
    """Metrics that are visible at first, see `ci-eval list metrics`; None = the usual ones."""
    recall_at: tuple[Count, ...] = ()
    """More places k: each adds the metric RecallAt{k}; RecallAt1 and RecallAt5 are always there."""
    kind_weights: dict[Kind, Annotated[float, Meta(ge=0)]] = {}
    """How often people ask for a token of each kind, in relation to each other: then the report `Weighted` stands for
    what they ask for. A kind that is not named weighs nothing."""


class ComparisonConfig(Section, frozen=True):
    """What `ci-eval compare` judges by; the configuration of the new evaluation counts."""

    metrics: tuple[Text, ...] = ()
    """The metrics whose verdicts count, the most important first: the more there are, the stronger the evidence each
    needs. Without any: RecallAt1, RecallAt5, MeanReciprocalRank and Recall; with a modelled user, whose effort decides,
    TypingSaved and KeystrokesSaved."""
    gates: tuple[Text, ...] = ()
    """Rules such as `RecallAt1 >= -1pp`: where one is broken, the command ends with exit code 1."""


DECLARED = ("RecallAt1", "RecallAt5", "MeanReciprocalRank", "Recall")
DECLARED_OF_A_USER = ("TypingSaved", "KeystrokesSaved")


class Config(Section, frozen=True):
    """One evaluation: what is completed, by what, and what is reported."""

    task: Text = "completion"
    """What the engine is to do, see `ci-eval list tasks`."""
    language: Text = "python"
    """Name of a language, see `ci-eval list languages`."""
    engine: EngineConfig = EngineConfig()
    """What completes."""
    project: ProjectConfig = ProjectConfig()
    """Whose code is completed."""
    projects: tuple[Text, ...] = ()
    """SPECs of several projects, in place of `project`: each is evaluated, or compared, by itself, and all are put into
    one table."""
    dataset: DatasetConfig = DatasetConfig()
    """What is asked, in tasks whose items are records."""
    judge: EndpointConfig | None = None
    """The language model that judges answers, in tasks that have them judged."""
    queries: QueriesConfig = QueriesConfig()
    """What is asked about objects, in the task method-calls."""
    run: RunConfig = RunConfig()
    """Whether answers that are tests are run, in tasks that ask for some."""
    training_projects: tuple[Text, ...] = ()
    """SPECs of other projects, whose logs train the ranker of the nights with the completion type ML."""
    output_dir: Text = "ci-eval-results"
    """The folder that gets a workspace per run."""
    actions: ActionsConfig = ActionsConfig()
    """Stage 1."""
    interpret: InterpretConfig = InterpretConfig()
    """Stage 2."""
    reports: ReportsConfig = ReportsConfig()
    """Stage 3."""
    comparison: ComparisonConfig = ComparisonConfig()
    """Two evaluations."""

    @property
    def played(self) -> str:
        """Return the task's name, which is golf if `completionGolf` is set."""
        return "golf" if self.actions.strategy.completion_golf else self.task

    def cluster_of(self, task: Task) -> tuple[str, ...]:
        """Return the fields by which a dataset's lines are sampled together: the configured one, or the task's own."""
        own = task.splitting.cluster if task.splitting else ()
        return (self.dataset.cluster,) if self.dataset.cluster else own

    @property
    def report_filters(self) -> ReportFilters:
        """Return the filters of the reports, and which of them leads."""
        return report_filters(
            grouped=self.played == "completion",
            lengths=self.actions.strategy.prefix.lengths or (),
            declared=self.reports.sessions_filters,
            weights=self.reports.kind_weights,
            headline=self.reports.headline,
        )

    @property
    def running(self) -> RunSettings | None:
        """Return the settings by which tests among the answers are run; None if none are run."""
        limits = self.interpret
        return (
            RunSettings(wanted=self.run, confine=limits.confine, memory=limits.memory_limit) if self.run.tests else None
        )

    @property
    def user(self) -> UserModelConfig | None:
        """Return the modelled user; None if nobody is modelled."""
        # Emulated typing ends as soon as the text is offered, as with a user who always takes it.
        emulated = self.actions.strategy.prefix.emulate_typing
        return self.interpret.user_model or (UserModelConfig(profile="always") if emulated else None)

    @property
    def declared(self) -> tuple[str, ...]:
        """Return the metrics whose verdicts count: the configured ones, or the usual ones."""
        return self.comparison.metrics or (DECLARED_OF_A_USER if self.user else DECLARED)
