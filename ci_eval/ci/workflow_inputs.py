"""The inputs of GitHub's reusable workflows, declared once: `benchmarks/ci_files.py` writes them into the workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Type = Literal["string", "number", "boolean"]
EVALUATE, COMPARE, LOGS, NIGHTLY = "evaluate", "compare", "generate-ml-logs", "nightly"
ENGINES = "compare-engines"
WORKFLOWS = (EVALUATE, COMPARE, ENGINES, LOGS, NIGHTLY)
BY_HAND = {NIGHTLY: ("gates", "fresh")}
"""Workflow → the only inputs that it has when it is started by hand. Others have the same as when they are called."""


@dataclass(frozen=True, kw_only=True)
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


INPUTS = (
    WorkflowInput(
        name="evaluation",
        workflows=(COMPARE,),
        description="Name of the evaluation, as in evaluate's outputs, such as python-jedi-basic.",
        default=None,
    ),
    WorkflowInput(
        name="base-run-id",
        workflows=(COMPARE,),
        description="The run that uploaded the base; empty = the last night in which this evaluation kept its gates.",
    ),
    WorkflowInput(
        name="new-run-id",
        workflows=(COMPARE,),
        description="The run that uploaded the new one; empty = this run.",
    ),
    WorkflowInput(
        name="config",
        workflows=(ENGINES,),
        description="A YAML file of the checkout.",
        default=None,
    ),
    WorkflowInput(
        name="name",
        workflows=(ENGINES,),
        description="Tells several comparisons of a pull request apart: artifact comparison-NAME, a comment each.",
    ),
    WorkflowInput(
        name="command",
        workflows=(ENGINES,),
        description="With build, the command that starts the engine, beginning with a program in build-output.",
    ),
    WorkflowInput(
        name="base",
        workflows=(ENGINES,),
        description="Without build, the engine compared with: NAME, NAME@VERSION, or a command.",
    ),
    WorkflowInput(
        name="new",
        workflows=(ENGINES,),
        description="Without build, the engine in question, in the same form.",
    ),
    WorkflowInput(
        name="engine-like",
        workflows=(ENGINES,),
        description="The engine whose settings and waiting a command gets, if its program does not tell.",
    ),
    WorkflowInput(
        name="rounds",
        workflows=(ENGINES,),
        description="How often each engine is asked each session; more rounds show smaller differences of time.",
    ),
    WorkflowInput(
        name="configs",
        workflows=(EVALUATE, LOGS, NIGHTLY),
        description="Configurations, separated by blanks; globs are fine.",
        defaults={EVALUATE: "configs/python.yaml", LOGS: "configs/*.yaml", NIGHTLY: "configs/*.yaml"},
    ),
    WorkflowInput(name="completion-types", workflows=(EVALUATE,), description="Separated by blanks.", default="BASIC"),
    WorkflowInput(
        name="ml-configs",
        workflows=(NIGHTLY,),
        description="Those evaluated with the completion type ML too, where generate-ml-logs.yml has trained a ranker.",
    ),
    WorkflowInput(
        name="projects",
        workflows=(LOGS,),
        description="SPECs of projects, separated by blanks, instead of the trainingProjects of each configuration.",
    ),
    WorkflowInput(
        name="shards",
        workflows=(EVALUATE, NIGHTLY),
        description="Jobs per evaluation.",
        type="number",
        defaults={EVALUATE: 1, NIGHTLY: 2},
    ),
    WorkflowInput(
        name="set",
        workflows=(EVALUATE, ENGINES, LOGS),
        description="Keys of the configuration, one KEY=VALUE on each line.",
    ),
    WorkflowInput(
        name="model-run-id",
        workflows=(EVALUATE,),
        description="The run of generate-ml-logs whose rankers ML uses.",
    ),
    WorkflowInput(
        name="gates",
        workflows=(COMPARE, ENGINES, NIGHTLY),
        description="Rules, one on each line; without them nightly.yml has declared >= -2pp.",
    ),
    WorkflowInput(
        name="algorithm-gates",
        workflows=(NIGHTLY,),
        description="Rules, one on each line, for each evaluation against the first by name of those asked the same.",
    ),
    WorkflowInput(
        name="allow-failure",
        workflows=(COMPARE,),
        description="Whether this workflow succeeds whatever becomes of the evaluation.",
        type="boolean",
        default=False,
    ),
    WorkflowInput(
        name="build",
        workflows=(EVALUATE, ENGINES, NIGHTLY),
        description="A command of bash that builds your engine, once, in a checkout; all shards get what it leaves.",
    ),
    WorkflowInput(
        name="build-output",
        workflows=(EVALUATE, ENGINES, NIGHTLY),
        description="What build leaves for the shards, a file or a folder of the checkout.",
        default="build",
    ),
    WorkflowInput(
        name="engine-artifact",
        workflows=(EVALUATE, NIGHTLY),
        description="Instead of build, an artifact of this run that holds engine.tar, which each shard unpacks.",
    ),
    WorkflowInput(
        name="setup",
        workflows=(EVALUATE, ENGINES, LOGS, NIGHTLY),
        description="A command of bash that runs first in each job that asks an engine, to install what that needs.",
    ),
    WorkflowInput(
        name="runs-on",
        workflows=(EVALUATE, ENGINES, LOGS, NIGHTLY),
        description="The label of the runners.",
        default="ubuntu-latest",
    ),
    WorkflowInput(
        name="container",
        workflows=(EVALUATE, ENGINES, NIGHTLY),
        description="The image that build and shards run in; it has git, bash and Python.",
    ),
    WorkflowInput(
        name="working-directory",
        workflows=(EVALUATE, ENGINES, NIGHTLY),
        description="The folder of the checkout that all paths are relative to.",
        default=".",
    ),
    WorkflowInput(
        name="reuse",
        workflows=(EVALUATE,),
        description="Whether a shard takes over the answers of its last run on this branch where nothing has changed.",
        type="boolean",
        default=False,
    ),
    WorkflowInput(
        name="fresh",
        workflows=(NIGHTLY,),
        description="Whether everything is asked again; otherwise last night's answers stay where nothing has changed.",
        type="boolean",
        default=False,
    ),
    WorkflowInput(
        name="retention-days",
        workflows=(EVALUATE,),
        description="How long workspaces are kept.",
        type="number",
        default=30,
    ),
)
