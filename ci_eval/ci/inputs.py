"""The inputs of the jobs in a CI, declared once.

`ci run` reads them, and `benchmarks/ci_files.py` writes action.yml, TeamCity's recipes, GitLab's components and the
table in docs/ci.md from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Passing = Literal["option", "flag", "argument"]


@dataclass(frozen=True, kw_only=True)
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

INPUTS = (
    Input(
        name="base",
        jobs=(COMPARE,),
        label="Base",
        description="The workspace compared with. Without it the newest in history that fits; with a history, a base "
        "that is not there yet is a first night.",
        passing="argument",
    ),
    Input(
        name="new",
        jobs=(COMPARE,),
        label="New",
        description="The workspace in question.",
        passing="argument",
        required=(COMPARE,),
    ),
    Input(
        name="more",
        jobs=(COMPARE,),
        label="More",
        description="Further workspaces, one on each line, for a ranking.",
        passing="argument",
        several="lines",
    ),
    Input(
        name="base",
        jobs=(ENGINES,),
        label="Base",
        description="The engine compared with: NAME, NAME@VERSION, or the command of a language server.",
        passing="argument",
        required=(ENGINES,),
    ),
    Input(
        name="new",
        jobs=(ENGINES,),
        label="New",
        description="The engine in question, in the same form.",
        passing="argument",
        required=(ENGINES,),
    ),
    Input(
        name="config",
        jobs=ASKING,
        label="Configuration",
        description="A YAML file of the checkout; this or a project has to be there.",
        passing="argument",
    ),
    Input(
        name="workspaces",
        jobs=(MERGE,),
        label="Shards",
        description="Workspaces of the shards, or folders that hold such, one on each line.",
        passing="argument",
        several="lines",
        required=(MERGE,),
    ),
    Input(
        name="logs",
        jobs=(TRAIN,),
        label="Logs",
        description="Workspaces of generate-ml-logs, or folders that hold such, one on each line.",
        passing="argument",
        several="lines",
        required=(TRAIN,),
    ),
    Input(
        name="configs",
        jobs=(PLAN, PLAN_LOGS),
        label="Configurations",
        description="Configurations, separated by blanks; globs are fine.",
        passing="argument",
        several="blanks",
    ),
    Input(name="language", jobs=ASKING, label="Language", description="Overrides the configuration's."),
    Input(
        name="engine",
        jobs=(EVALUATE, LOGS),
        label="Engine",
        description="NAME or NAME@VERSION; overrides the configuration's.",
    ),
    Input(
        name="engine-command",
        jobs=(EVALUATE, LOGS),
        label="Engine's command",
        description="The command of a language server of your own, instead of an engine's name.",
    ),
    Input(
        name="engine-like",
        jobs=ASKING,
        label="Engine like",
        description="The engine whose settings and waiting a command gets, if its program does not tell.",
    ),
    Input(
        name="project",
        jobs=ASKING,
        label="Project",
        description="Whose code is completed, such as pypi:flask==3.0.3; overrides the configuration's.",
    ),
    Input(
        name="completion-type",
        jobs=ASKING,
        label="Completion type",
        description="BASIC, ALPHABETICAL, FREQUENCY, RECENCY, NGRAM or ML; overrides the configuration's.",
    ),
    Input(
        name="model",
        jobs=ASKING,
        label="Model",
        description="What ML ranks by, a file made by train-ranker.",
    ),
    Input(
        name="set",
        jobs=(*ASKING, TRAIN),
        label="Keys",
        description="Keys of the configuration, one KEY=VALUE on each line.",
        option="--set",
        several="lines",
    ),
    Input(
        name="shard",
        jobs=(EVALUATE, LOGS),
        label="Shard",
        description="I/N: only the I-th of N parts.",
    ),
    Input(
        name="reuse",
        jobs=(EVALUATE,),
        label="Reuse",
        description="An earlier workspace whose answers are taken over where nothing has changed.",
    ),
    Input(
        name="precision",
        jobs=(EVALUATE,),
        label="Precision",
        description="Such as 1pp: as few sessions as it takes to know the first share, usually Recall, so well.",
    ),
    Input(
        name="expect",
        jobs=(EVALUATE,),
        label="Earlier run",
        description="With a precision, an earlier workspace of this engine and project in which all were asked; it "
        "spares sessions.",
    ),
    Input(
        name="rounds",
        jobs=(ENGINES,),
        label="Rounds",
        description="How often each engine is asked each session; more rounds show smaller differences of time.",
    ),
    Input(
        name="jobs",
        jobs=(*ASKING, TRAIN),
        label="Processes",
        description="Worker processes; one per core without it.",
    ),
    Input(
        name="log-formats",
        jobs=(LOGS,),
        label="Formats",
        description="parquet, jsonl or jetbrains, one on each line; without it the configuration's.",
        option="--log-format",
        several="lines",
    ),
    Input(
        name="gates",
        jobs=(EVALUATE,),
        label="Gates",
        description="Rules about figures, one on each line, such as Recall >= 90%.",
        option="--gate",
        several="lines",
    ),
    Input(
        name="gates",
        jobs=(COMPARE, ENGINES),
        label="Gates",
        description="Rules about differences, one on each line, such as RecallAt1 >= -1pp.",
        option="--gate",
        several="lines",
    ),
    Input(
        name="same-ranker",
        jobs=(COMPARE,),
        label="Same ranker",
        description="true: a base that another ranker ranked is left out, since two things would have changed.",
        passing="flag",
    ),
    Input(
        name="history",
        jobs=(COMPARE,),
        label="History",
        description="A folder of past figures; the new ones are added to it.",
    ),
    Input(
        name="shards",
        jobs=(PLAN,),
        label="Shards",
        description="Jobs per evaluation.",
    ),
    Input(
        name="completion-types",
        jobs=(PLAN,),
        label="Completion types",
        description="Separated by blanks.",
        option="--completion-type",
        several="blanks",
    ),
    Input(
        name="projects",
        jobs=(PLAN_LOGS,),
        label="Projects",
        description="SPECs of projects, separated by blanks, instead of the trainingProjects of each configuration.",
        option="--project",
        several="blanks",
    ),
    Input(
        name="output",
        jobs=tuple(STEPS),
        label="Output",
        description="What is made: a new folder; of train-ranker a file.",
    ),
)

JOBS = tuple(dict.fromkeys(job for entry in INPUTS for job in entry.jobs))


def inputs_of(job: str) -> Iterator[Input]:
    """Yield the inputs of a job. Arguments come in the order of the command line."""
    return (entry for entry in INPUTS if job in entry.jobs)
