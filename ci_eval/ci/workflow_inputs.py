"""The inputs of GitHub's reusable workflows, declared once: `benchmarks/ci_files.py` writes them into the workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Type = Literal["string", "number", "boolean"]
EVALUATE, COMPARE, LOGS, NIGHTLY = "evaluate", "compare", "generate-ml-logs", "nightly"
ENGINES = "compare-engines"
WORKFLOWS = (EVALUATE, COMPARE, ENGINES, LOGS, NIGHTLY)
ASKING = (EVALUATE, ENGINES, LOGS, NIGHTLY)
"""Workflows that ask engines, which they may build."""
BY_HAND = {NIGHTLY: ("gates", "fresh", "first-night")}
"""Workflow → the only inputs that it has when it is started by hand. Others have the same as when they are called."""


@dataclass(frozen=True)
class WorkflowInput:
    """An input of one or several workflows."""

    name: str
    workflows: tuple[str, ...]
    description: str
    type: Type = "string"
    default: str | int | bool | None = ""
    """The default; None if the input must be there."""
    defaults: Mapping[str, str | int] = field(default_factory=dict)
    """Workflow → its own default."""


# A table, a row for each.
# fmt: off
INPUTS = (
    WorkflowInput("evaluation", (COMPARE,),
        "Name of the evaluation, as in evaluate's outputs, such as python-jedi-basic.", default=None),
    WorkflowInput("base-run-id", (COMPARE,),
        "The run that uploaded the base; empty = the last night in which this evaluation kept its gates."),
    WorkflowInput("new-run-id", (COMPARE,), "The run that uploaded the new one; empty = this run."),
    WorkflowInput("config", (ENGINES,), "A YAML file of the checkout.", default=None),
    WorkflowInput("name", (EVALUATE, ENGINES, NIGHTLY),
        "Tells several calls in one run apart: it begins or ends the names of their artifacts."),
    WorkflowInput("command", (ENGINES,),
        "With build, the command that starts the engine, beginning with a program in build-output."),
    WorkflowInput("base", (ENGINES,), "Without build, the engine compared with: NAME, NAME@VERSION, or a command."),
    WorkflowInput("new", (ENGINES,), "Without build, the engine in question, in the same form."),
    WorkflowInput("engine-like", (ENGINES,),
        "The engine whose settings and waiting a command gets, if its program does not tell."),
    WorkflowInput("rounds", (ENGINES,),
        "How often each engine is asked each session; more rounds show smaller differences of time."),
    WorkflowInput("configs", (EVALUATE, LOGS, NIGHTLY),
        "Configurations, separated by blanks; globs are fine.",
        defaults={EVALUATE: "configs/python.yaml", LOGS: "configs/*.yaml", NIGHTLY: "configs/*.yaml"}),
    WorkflowInput("completion-types", (EVALUATE,), "Separated by blanks.", default="BASIC"),
    WorkflowInput("ml-configs", (EVALUATE, NIGHTLY),
        "Those evaluated with the completion type ML too, where generate-ml-logs.yml has trained a ranker."),
    WorkflowInput("projects", (LOGS,),
        "SPECs of projects, separated by blanks, instead of the trainingProjects of each configuration."),
    WorkflowInput("shards", (EVALUATE, NIGHTLY), "Jobs per evaluation.", type="number", default=1),
    WorkflowInput("set", (EVALUATE, ENGINES, LOGS), "Keys of the configuration, one KEY=VALUE on each line."),
    WorkflowInput("model-run-id", (EVALUATE,),
        "The run of generate-ml-logs whose rankers ML uses; empty = the newest."),
    WorkflowInput("gates", (EVALUATE, COMPARE, ENGINES, NIGHTLY),
        "Rules, one on each line; without them nightly.yml has declared >= -2pp."),
    WorkflowInput("algorithm-gates", (NIGHTLY,),
        "Rules, one on each line, for each evaluation against the first by name of those asked the same."),
    WorkflowInput("allow-failure", (COMPARE,),
        "Whether this workflow succeeds whatever becomes of the evaluation.", type="boolean", default=False),
    WorkflowInput("build", ASKING,
        "A command of bash that builds your engine, once, in a checkout; all shards get what it leaves."),
    WorkflowInput("build-output", ASKING,
        "What build leaves for the shards, a file or a folder of the checkout.", default="build"),
    WorkflowInput("engine-artifact", ASKING,
        "Instead of build, an artifact of this run that holds engine.tar, which each shard unpacks."),
    WorkflowInput("base-artifact", (ENGINES,),
        "With engine-artifact, the artifact that holds the base in the same form, unless base names one."),
    WorkflowInput("setup", ASKING,
        "A command of bash that runs first in each job that asks an engine, to install what that needs."),
    WorkflowInput("runs-on", (*ASKING, COMPARE),
        "The label of the runners; or a JSON list of labels, or a JSON object with a group.", default="ubuntu-latest"),
    WorkflowInput("container", ASKING, "The image that plan, build and shards run in; it has git and bash."),
    WorkflowInput("working-directory", ASKING,
        "The folder of the checkout that all paths are relative to.", default="."),
    WorkflowInput("submodules", ASKING, "Whether the checkout has them: true, recursive or false.", default="false"),
    WorkflowInput("fetch-depth", ASKING,
        "Commits that the checkout has; 0 = all.", type="number", default=1, defaults={ENGINES: 2}),
    WorkflowInput("minutes", ASKING,
        "After how many minutes a job that builds or asks is stopped.", type="number", default=180),
    WorkflowInput("compare", (EVALUATE,),
        "Whether each evaluation is compared with its last good night.", type="boolean", default=False),
    WorkflowInput("first-night", (EVALUATE, COMPARE, NIGHTLY),
        "Whether an evaluation may have no base although GitHub knows earlier runs of it that were green.",
        type="boolean", default=False),
    WorkflowInput("reuse", (EVALUATE,),
        "Whether a shard takes over the answers of its last run on this branch where nothing has changed.",
        type="boolean", default=False),
    WorkflowInput("fresh", (NIGHTLY,),
        "Whether everything is asked again; otherwise last night's answers stay where nothing has changed.",
        type="boolean", default=False),
    WorkflowInput("retention-days", (EVALUATE,), "How long workspaces are kept.", type="number", default=30),
)
# fmt: on
