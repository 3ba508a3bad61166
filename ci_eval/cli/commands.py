"""Which commands there are, and the module that each stands in."""

from __future__ import annotations

COMMANDS: dict[str, dict[str, str]] = {
    "answers": {
        "answers": "What endpoints have answered: kept below CI_EVAL_CACHE, and carried from machine to machine.",
    },
    "ci": {
        "ci": "For workflows and build steps.",
    },
    "comparisons": {
        "compare": (
            "Is NEW better than BASE, worse, or can one not tell? Session by session, over the sessions on both sides."
        ),
        "compare-engines": "Two engines over the same code, asked in turns: which is better, and which is faster?",
        "merge": (
            "The shards of one run → the workspace that the run would have made on one machine; or several projects → "
            "one; or the shards of a suite → the suite."
        ),
        "site": (
            "Past evaluations → a static site of their trends: a row and a page for each, and its figures as "
            "trend.json."
        ),
    },
    "exchange": {
        "export": (
            "The answers in WORKSPACE as tables, as findings for editors, or as a workspace of the JetBrains plugin."
        ),
        "import": "A WORKSPACE of the JetBrains evaluation plugin → one of ours, with reports.",
    },
    "logs": {
        "logs": "What can be asked of logs.",
    },
    "models": {
        "expect": "What a modelled user would do on average, exactly, from the places at all prefixes.",
        "export-ranker": (
            "A MODEL of train-ranker → a plain file of LightGBM, or ONNX, for programs that know nothing of ci-eval."
        ),
        "fit-user-model": "Logs → the tables of the user who made them, as YAML for a configuration.",
        "generate-ml-logs": (
            "Stages 1 and 2 with a modelled user and logs on: every suggestion with its features, in WORKSPACE/logs."
        ),
        "grade": "Grades a WORKSPACE's suggestions anew, or each line of PAIRS by GRADER, without an engine.",
        "rerank": "The stored suggestions of WORKSPACE in another order, without the engine: the cheap what-if.",
        "train-ranker": (
            "Logs (workspaces of generate-ml-logs, or a folder of such) → a model for --completion-type ML."
        ),
        "train-recommender": (
            "Object usages, one a line → a model for the engine `recommender`, which proposes method calls."
        ),
    },
    "runs": {
        "actions": "Stage 1 alone: source files → actions, in a new workspace for `ci-eval interpret`.",
        "evaluate": "All stages: project and engine → a workspace with reports.",
        "interpret": "Stage 2 alone: the actions of WORKSPACE + engine → sessions.",
        "report": "Stage 3 alone: write the reports of each WORKSPACE anew.",
        "show": "One session of WORKSPACE: where, what was expected, what was suggested.",
    },
    "starting": {
        "init": "Asks three questions, and writes a configuration and a workflow for every night.",
    },
    "sweeps": {
        "sweep": (
            "Vary the values of keys: an evaluation for each, over the same sessions, and one table, each against the "
            "first."
        ),
    },
    # It adds a command to those of the module datasets, which it imports.
    "usages": {
        "dataset": "Makes datasets: records that tasks such as unit-tests and code-review are evaluated on.",
    },
    "views": {
        "doctor": "What is installed, what is missing, and the command that helps.",
        "list": "What there is to choose from.",
        "plan": "The matrix of jobs (language, engine, completion type, shard) as one line of JSON.",
        "plan-logs": (
            "The matrix of the jobs of generate-ml-logs, one for each of a configuration's trainingProjects, as JSON."
        ),
    },
}
"""Module of this package → the commands in it, with their summaries: the first sentence of what each says of itself."""

NAMES = frozenset(name for commands in COMMANDS.values() for name in commands)
"""Of the commands."""
