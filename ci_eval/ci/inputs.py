"""The inputs of the jobs in a CI, declared once.

`ci run` reads them, and `benchmarks/ci_files.py` writes action.yml, TeamCity's recipes, GitLab's components and the
table in docs/ci.md from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Passing = Literal["option", "flag", "argument", "none"]


@dataclass(frozen=True)
class Input:
    """An input of one or several jobs, and how it becomes a part of the command line."""

    name: str
    jobs: tuple[str, ...]
    label: str
    """Its title in a form."""
    description: str
    passing: Passing = "option"
    option: str = ""
    """The option that every value gets, if the input may have several."""
    several: Literal["", "lines", "blanks"] = ""
    """What separates the values, if the input may have several."""
    required: tuple[str, ...] = ()
    """Jobs that cannot do without it."""


EVALUATE, LOGS, COMPARE, ENGINES = "evaluate", "generate-ml-logs", "compare", "compare-engines"
MERGE, TRAIN, PLAN, PLAN_LOGS = "merge", "train-ranker", "plan", "plan-logs"
ASKING = (EVALUATE, LOGS, ENGINES)
"""Jobs that ask engines."""
STEPS = {
    EVALUATE: "workspace",
    LOGS: "logs",
    COMPARE: "comparison",
    ENGINES: "engines",
    MERGE: "workspace",
    TRAIN: "model.json",
}
"""Jobs that a step of a CI may run → the name of what they make, if no output says another."""
SUMMARIES = {
    EVALUATE: "Measures how good code completion is.",
    LOGS: "Logs every suggestion that a modelled user is shown, to train rankers on.",
    COMPARE: "Is the new evaluation better, worse, or can one not tell? A broken gate fails the build.",
    ENGINES: "Asks two engines about the same code, in turns: which is better, and which is faster?",
    MERGE: "Puts the shards of an evaluation together.",
    TRAIN: "Trains a ranker, for the completion type ML, from the logs of generate-ml-logs.",
}

# A table, a row for each.
# fmt: off
INPUTS = (
    Input("base", (COMPARE,), "Base",
        "The workspace compared with. Without it the newest in history that fits.", passing="argument"),
    Input("new", (COMPARE,), "New", "The workspace in question.", passing="argument", required=(COMPARE,)),
    Input("more", (COMPARE,), "More",
        "Further workspaces, one on each line, for a ranking.", passing="argument", several="lines"),
    Input("base", (ENGINES,), "Base",
        "The engine compared with: NAME, NAME@VERSION, or the command of a language server.",
        passing="argument", required=(ENGINES,)),
    Input("new", (ENGINES,), "New",
        "The engine in question, in the same form.", passing="argument", required=(ENGINES,)),
    Input("config", ASKING, "Configuration",
        "A YAML file of the checkout; this or a project has to be there.", passing="argument"),
    Input("workspaces", (MERGE,), "Shards",
        "Workspaces of the shards, or folders that hold such, one on each line.",
        passing="argument", several="lines", required=(MERGE,)),
    Input("logs", (TRAIN,), "Logs",
        "Workspaces of generate-ml-logs, or folders that hold such, one on each line.",
        passing="argument", several="lines", required=(TRAIN,)),
    Input("configs", (PLAN, PLAN_LOGS), "Configurations",
        "Configurations, separated by blanks; globs are fine.", passing="argument", several="blanks"),
    Input("language", ASKING, "Language", "Overrides the configuration's."),
    Input("engine", (EVALUATE, LOGS), "Engine", "NAME or NAME@VERSION; overrides the configuration's."),
    Input("engine-command", (EVALUATE, LOGS), "Engine's command",
        "The command of a language server of your own, instead of an engine's name."),
    Input("engine-like", ASKING, "Engine like",
        "The engine whose settings and waiting a command gets, if its program does not tell."),
    Input("project", ASKING, "Project",
        "Whose code is completed, such as pypi:flask==3.0.3; overrides the configuration's."),
    Input("completion-type", ASKING, "Completion type",
        "BASIC, ALPHABETICAL, FREQUENCY, RECENCY, NGRAM or ML; overrides the configuration's."),
    Input("model", ASKING, "Model", "What ML ranks by, a file made by train-ranker."),
    Input("set", (*ASKING, TRAIN), "Keys",
        "Keys of the configuration, one KEY=VALUE on each line.", option="--set", several="lines"),
    Input("shard", (EVALUATE, LOGS), "Shard", "I/N: only the I-th of N parts."),
    Input("reuse", (EVALUATE,), "Reuse",
        "An earlier workspace whose answers are taken over where nothing has changed."),
    Input("precision", (EVALUATE,), "Precision",
        "Such as 1pp: as few sessions as it takes to know the first share, usually Recall, so well."),
    Input("rounds", (ENGINES,), "Rounds",
        "How often each engine is asked each session; more rounds show smaller differences of time."),
    Input("jobs", (*ASKING, TRAIN), "Processes", "Worker processes; one per core without it."),
    Input("log-formats", (LOGS,), "Formats",
        "parquet, jsonl or jetbrains, one on each line; without it the configuration's.",
        option="--log-format", several="lines"),
    Input("gates", (EVALUATE,), "Gates",
        "Rules about figures, one on each line, such as Recall >= 90%.", option="--gate", several="lines"),
    Input("gates", (COMPARE, ENGINES), "Gates",
        "Rules about differences, one on each line, such as RecallAt1 >= -1pp.", option="--gate", several="lines"),
    Input("same-ranker", (COMPARE,), "Same ranker",
        "true: a base that another ranker ranked is left out, since two things would have changed.", passing="flag"),
    Input("history", (COMPARE,), "History", "A folder of past figures; the new ones are added to it."),
    Input("first-night", (COMPARE,), "First night",
        "true: with a history, there may be no base yet. Otherwise a base that is missing is an error.",
        passing="flag"),
    Input("name", (PLAN,), "Name", "Begins the names of all evaluations."),
    Input("ml-configs", (PLAN,), "Configurations with ML",
        "Those evaluated with the completion type ML, too.", option="--ml-config", several="blanks"),
    Input("shards", (PLAN,), "Shards", "Jobs per evaluation."),
    Input("completion-types", (PLAN,), "Completion types",
        "Separated by blanks.", option="--completion-type", several="blanks"),
    Input("projects", (PLAN_LOGS,), "Projects",
        "SPECs of projects, separated by blanks, instead of the trainingProjects of each configuration.",
        option="--project", several="blanks"),
    Input("output", tuple(STEPS), "Output", "What is made: a new folder; of train-ranker a file."),
)
# fmt: on

JOBS = tuple(dict.fromkeys(job for entry in INPUTS for job in entry.jobs))


def inputs_of(job: str) -> Iterator[Input]:
    """Yield the inputs of a job. Arguments come in the order of the command line."""
    return (entry for entry in INPUTS if job in entry.jobs)
