"""The schema of the configuration: every key with its meaning, unit, default and allowed values.

A key is the name of the field in camelCase. `rules.py` checks conditions between several fields.
"""

# The docstrings of sections and fields are shown to users by `ci-eval list keys` and in the JSON schema.
from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.contracts import RunSettings, Task
from ci_eval.core.filters import ReportFilters, report_filters, sampling_classes
from ci_eval.core.model.settings import (
    ActionsConfig,
    Confine,
    Count,
    EndpointConfig,
    QueriesConfig,
    RunConfig,
    Section,
    SessionsFilter,
    Share,
    Text,
    UserModelConfig,
)

BY_MODEL = ("ML", "PBN")
"""The completion types that need a model file (`interpret.rankingModel`)."""


class EngineConfig(EndpointConfig, frozen=True):
    """The engine to evaluate, which may also be written as `NAME` or `NAME@VERSION`. A `command` is any language
    server, an `endpoint` any language model."""

    name: Text = "jedi"
    """The name of an engine (see `ci-eval list engines`)."""
    version: Text | None = None
    """The engine's version; None = the one that ci-eval was tested with. For a `command`, the version that reports
    show."""
    command: Annotated[tuple[Text, ...], Meta(min_length=1)] | None = None
    """The program and arguments of your own language server; `{root}` is replaced by the project's folder."""
    language_id: Text | None = None
    """The language identifier that the server receives; None = chosen by the suffix of each file, as editors do."""
    like: Text | None = None
    """The engine whose settings, variables and waiting times a `command` gets. None = the engine that has this
    program, if there is one."""
    initialize_timeout: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    """The seconds that a language server may take to answer `initialize`; a server that fails to start twice is given
    up."""
    ready: Annotated[float, Meta(ge=0, le=86_400)] = 120.0
    """The seconds, counted from each start, to wait for work that a language server announces (`$/progress`). ci-eval
    waits before the first request, and before it repeats requests that came during such work."""
    settings: dict[str, Any] = {}
    """The configuration, by section, that a language server gets when it asks, on top of what ci-eval sends."""
    options: dict[str, Any] = {}
    """The `initializationOptions` of a language server, on top of those of ci-eval, or the options of an engine of
    another kind."""
    arguments: tuple[Text, ...] = ()
    """The arguments of a language server that follow those of ci-eval; `--name=…` replaces the argument of that
    name."""
    environment: dict[str, str | None] = {}
    """The environment variables of a language server. null = the value that the variable has for ci-eval, which is
    stored nowhere."""
    capabilities: dict[str, Any] = {}
    """The client capabilities that a language server gets in `initialize`, on top of those of VS Code."""
    reads: tuple[Text, ...] = ()
    """The folders that a confined engine may read and run, besides its own folder and the project's."""
    allowed_unreadable: Share = 0.2
    """The share of a language model's answers that may be unreadable: they are no code at the caret, or do not have the
    requested form. If more are, the exit code is 5."""


class ProjectConfig(Section, frozen=True):
    """The project whose code is completed, which may also be written as its SPEC alone."""

    spec: str = ""
    """The SPEC of a project, such as `pypi:NAME==VERSION` or `path:DIR`."""
    dependencies: bool | None = None
    """Install the packages that the project needs, so that the engine sees them; their code is not run. None = only if
    safe and cheap, or if the engine suggests next to nothing without packages. The installation is safe and cheap if a
    lock or the project's registry names the packages. `needsDependencies` in `ci-eval list engines --format json` marks
    engines that need packages."""
    dependency_groups: Literal["all"] | tuple[Text, ...] = ()
    """The groups and extras of a Python project, or npm's `dev`, whose requirements are installed as well; `all` = all
    of them."""
    source_roots: tuple[Text, ...] = ()
    """The folders below the root with the project's own packages of Python, or with a package.json; () = those that its
    files name."""
    generated: Literal["exclude", "include"] = "exclude"
    """`exclude`: generated and vendored files, which nobody writes by hand, have no sessions."""
    name: Text | None = None
    """The project's name, on which the ids of its sessions depend. None = from the SPEC; for a folder, from its Git
    remote or the CI."""


class DatasetConfig(Section, frozen=True):
    """The dataset of a task that is not about source code, which may also be written as its SPEC alone."""

    spec: str = ""
    """A file of JSON lines, or an address `https://HOST/FILE#sha256=HEX`."""
    cluster: str = ""
    """The name of the field that groups samples into clusters, such as `meta.repository`; "" = the task's own fields,
    or each sample by itself."""


class InterpretConfig(Section, frozen=True):
    """The settings of stage 2, which turns actions into sessions by asking the engine."""

    completion_type: Text = "BASIC"
    """The completion type, which orders the engine's candidates (see `ci-eval list completion-types`)."""
    client: Literal["vscode", "editor", "raw"] = "vscode"
    """The client that displays the engine's list: Visual Studio Code (`vscode`), ci-eval's former rule (`editor`), or
    the list as it came (`raw`)."""
    session_probability: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """The share of the planned sessions that is evaluated, sampled with `seed`."""
    sessions_limit: Count | None = None
    """The largest number of sessions that are evaluated, sampled over the whole project; None = all."""
    seed: int = 0
    """The seed of everything that is random."""
    auto_import: Literal["default", "on", "off"] = "default"
    """Switch suggestions of names that would first have to be imported: `on`, `off`, or `default`, as for users who
    change no settings."""
    timeout: Annotated[float, Meta(gt=0, le=86_400)] = 10.0
    """The seconds that one completion may take."""
    user_model: UserModelConfig | None = None
    """The modelled user, who requests completion and takes suggestions; None = completion is requested as
    `actions.strategy.prefix` says."""
    save_logs: bool = False
    """Log every suggestion with its features, for training rankers."""
    log_format: Annotated[tuple[Text, ...], Meta(min_length=1)] = ("parquet",)
    """The formats of logs: tables (`parquet`, needs the extra `ml`), lines of JSON (`jsonl`), or the events of the
    JetBrains plugin (`jetbrains`)."""
    train_test_split: Annotated[int, Meta(ge=1, le=99)] = 70
    """The percentage of files (or projects) whose sessions are logged for training; the others are for validation."""
    test_split: Annotated[int, Meta(ge=0, le=98)] = 0
    """The percentage of files (or projects) that is reserved for a final test and must not be used in training. This
    share is taken from the files for validation."""
    log_context: Annotated[int, Meta(ge=0, le=2_000)] = 0
    """The number of characters before and after the token that logs store with each list."""
    split_by: Literal["file", "project"] = "file"
    """The unit that is never split between training, validation and test: the sessions of a file, or of a project."""
    ranking_model: Text | None = None
    """The model file that orders candidates for the completion type ML (`ci-eval train-ranker`) or PBN (`ci-eval
    train-recommender`)."""
    max_suggestions: Count = 1000
    """The number of suggestions that are stored per lookup; ranks are counted among all of them."""
    memory_limit: Annotated[int, Meta(ge=0)] = 4_000_000_000
    """The bytes of memory that the engine and all processes it starts may hold together; 0 = no limit."""
    confine: Confine = "auto"
    """Confine the engine's processes as much as this machine allows (`auto`), or not at all (`off`). With `required`,
    nothing is evaluated unless they are confined completely."""
    trace: bool = False
    """Store the messages to and from the engine with each session, shortened."""
    allowed_failures: Share = 0.05
    """The share of the evaluated sessions that may fail before the run counts as failed."""
    allowed_empty: Share = 0.95
    """The share of evaluated sessions without a suggestion at which the run counts as failed; 1 = never."""


class ReportsConfig(Section, frozen=True):
    """The settings of stage 3, which turns sessions into metrics and reports."""

    evaluation_title: Text | None = None
    """The name of this evaluation in reports and comparisons; None = made of engine, version and completion type."""
    headline: Text = "names"
    """The sessions that headlines, gates, comparisons and trends are about: a group, `all`, or a filter's name such as
    `Prefix 1`. The groups are `names` (calls, fields, variables, types, arguments), `imports` and `keywords`. A group
    means the sessions with one letter typed, if such sessions were asked. Tasks other than completion have no groups;
    `names` then means all."""
    sessions_filters: tuple[SessionsFilter, ...] = ()
    """The reports over parts of the sessions, in addition to the report over all of them."""
    default_metrics: tuple[Text, ...] | None = None
    """The metrics that are visible at first (see `ci-eval list metrics`); None = the usual ones."""
    recall_at: tuple[Count, ...] = ()
    """The further ranks k, each of which adds the metric RecallAt{k}; RecallAt1 and RecallAt5 always exist."""


class ComparisonConfig(Section, frozen=True):
    """The settings of `ci-eval compare`, taken from the configuration of the new evaluation."""

    metrics: tuple[Text, ...] = ()
    """The metrics whose verdicts count, the most important first; the more there are, the stronger the evidence each
    needs. An empty list means RecallAt1, RecallAt5, MeanReciprocalRank and Recall. With a modelled user, whose effort
    decides, an empty list means TypingSaved and KeystrokesSaved."""
    gates: tuple[Text, ...] = ()
    """The gates, such as `RecallAt1 >= -1pp`; if one is broken, the command ends with exit code 1."""


DECLARED = ("RecallAt1", "RecallAt5", "MeanReciprocalRank", "Recall")
DECLARED_OF_A_USER = ("TypingSaved", "KeystrokesSaved")


class Config(Section, frozen=True):
    """The configuration of one evaluation: the task, the code, the engine and the reports."""

    task: Text = "completion"
    """The task of the engine (see `ci-eval list tasks`)."""
    language: Text = "python"
    """The name of a language (see `ci-eval list languages`)."""
    engine: EngineConfig = EngineConfig()
    """The engine that the evaluation asks."""
    project: ProjectConfig = ProjectConfig()
    """The project whose code is completed."""
    projects: tuple[Text, ...] = ()
    """The SPECs of several projects, in place of `project`. Each project is evaluated or compared by itself, and one
    table shows all of them."""
    dataset: DatasetConfig = DatasetConfig()
    """The dataset of a task whose items are samples."""
    judge: EndpointConfig | None = None
    """The language model that judges the engine's answers, in tasks that need a judge."""
    queries: QueriesConfig = QueriesConfig()
    """The usage queries about objects, in the task method-calls."""
    run: RunConfig = RunConfig()
    """The settings for running tests that engines write, in tasks that ask for tests."""
    training_projects: tuple[Text, ...] = ()
    """The SPECs of other projects, whose logs train the ranker of nightly runs with the completion type ML."""
    output_dir: Text = "ci-eval-results"
    """The folder in which each run makes its workspace."""
    actions: ActionsConfig = ActionsConfig()
    """The settings of stage 1, which turns source code into actions."""
    interpret: InterpretConfig = InterpretConfig()
    """The settings of stage 2, which turns actions into sessions by asking the engine."""
    reports: ReportsConfig = ReportsConfig()
    """The settings of stage 3, which turns sessions into metrics and reports."""
    comparison: ComparisonConfig = ComparisonConfig()
    """The settings of comparisons between two evaluations."""

    @property
    def effective_task(self) -> str:
        """Return the name of the task. The strategy may select the tasks golf, imports, silent and inside."""
        strategy = self.actions.strategy
        if strategy.completion_golf:
            return "golf"
        if strategy.imports == "removed":
            return "imports"
        if strategy.places.silent:
            return "silent"
        is_inside = self.task == "completion" and strategy.prefix.name == "Inside"
        return "inside" if is_inside else self.task

    def find_cluster(self, task: Task) -> tuple[str, ...]:
        own = task.splitting.cluster if task.splitting else ()
        return (self.dataset.cluster,) if self.dataset.cluster else own

    @property
    def report_filters(self) -> ReportFilters:
        return report_filters(
            grouped=self.effective_task in {"completion", "inside"},
            lengths=self.actions.strategy.prefix.lengths or (),
            declared=self.reports.sessions_filters,
            headline=self.reports.headline,
        )

    @property
    def sampling_classes(self) -> tuple[str, ...]:
        # With a modelled user, the answers decide how many letters are typed, and so decide the class of a session.
        return () if self.user else sampling_classes(self.report_filters.headline)

    @property
    def running(self) -> RunSettings | None:
        if not self.run.tests:
            return None
        return RunSettings(wanted=self.run, confine=self.interpret.confine, memory=self.interpret.memory_limit)

    @property
    def user(self) -> UserModelConfig | None:
        # Emulated typing ends as soon as the expected text is offered, as with a user who always accepts.
        emulated = self.actions.strategy.prefix.emulate_typing
        return self.interpret.user_model or (UserModelConfig(profile="always") if emulated else None)

    @property
    def declared(self) -> tuple[str, ...]:
        return self.comparison.metrics or (DECLARED_OF_A_USER if self.user else DECLARED)
