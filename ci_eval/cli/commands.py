"""The names of all commands, and the module that each stands in."""

from __future__ import annotations

COMMANDS: dict[str, dict[str, str]] = {
    "answers": {
        "answers": "Export, import or drop stored answers of endpoints (below CI_EVAL_CACHE).",
    },
    "ci": {
        "ci": "Commands for workflows and build steps.",
    },
    "comparisons": {
        "compare": ("Compare NEW with BASE, session by session: better, worse, equivalent, or no difference shown."),
        "compare-engines": "Ask two engines about the same code, in turns: which is better, and which is faster?",
        "merge": ("Merge the shards of a run or of a suite, or several projects, into one workspace."),
        "site": ("Build a static site of trends from past evaluations: a row, a page and a trend.json for each."),
    },
    "exchange": {
        "export": ("Export the answers in WORKSPACE: as tables, or as a workspace of the JetBrains plugin."),
        "import": "Import a WORKSPACE of the JetBrains evaluation plugin, and write its reports.",
    },
    "logs": {
        "logs": "Inspect and compare completion logs.",
    },
    "models": {
        "agreement": (
            "Compare the verdicts of a WORKSPACE's judge with those of people: share of agreement, and Cohen's kappa."
        ),
        "expect": "Compute exactly what a modelled user would do on average, from the ranks at all prefixes.",
        "export-ranker": ("Export a MODEL of train-ranker as a plain LightGBM or ONNX file for other programs."),
        "fit-user-model": "Fit a user model to logs, and print its tables as YAML for a configuration.",
        "generate-ml-logs": (
            "Run stages 1 and 2 with a modelled user, and log every suggestion with its features in WORKSPACE/logs."
        ),
        "grade": "Grade the suggestions of a WORKSPACE again, or each line of PAIRS by GRADER, without an engine.",
        "import-ranker": "Import a ranker that was trained elsewhere (LightGBM's text, or ONNX).",
        "rerank": "Rank the stored suggestions of WORKSPACE by another completion type, without asking the engine.",
        "train-ranker": (
            "Train a ranker (--completion-type ML) from logs: workspaces of generate-ml-logs, or a folder of such."
        ),
        "train-recommender": (
            "Train a model for the engine `recommender`, which proposes method calls, from object usages, one per line."
        ),
    },
    "runs": {
        "actions": "Run stage 1 alone: source files → actions, in a new workspace for `ci-eval interpret`.",
        "evaluate": "Run all stages: project and engine → a workspace with reports.",
        "interpret": "Run stage 2 alone: actions of WORKSPACE and an engine → sessions.",
        "report": "Run stage 3 alone: write the reports of each WORKSPACE again.",
        "show": "Show one session of WORKSPACE: location, expected text, suggestions.",
    },
    "starting": {
        "init": "Ask three questions, then write a configuration and the files of your CI.",
    },
    "sweeps": {
        "sweep": ("Evaluate each value of some keys over the same sessions, and compare each run with the first."),
    },
    # It adds a command to those of the module datasets, which it imports.
    "usages": {
        "dataset": "Build datasets for tasks such as unit-tests and code-review.",
    },
    "views": {
        "doctor": "Check what is installed and what is missing, and print the command that helps.",
        "list": "List engines, languages, tasks, metrics and other choices.",
        "plan": "Print the matrix of jobs (language, engine, completion type, shard) as one line of JSON.",
        "plan-logs": ("Print the matrix of generate-ml-logs jobs, one per project in trainingProjects, as JSON."),
    },
}
"""The module of this package → the commands in it, with their summaries: the first sentence of what each says of
itself."""

NAMES = frozenset(name for commands in COMMANDS.values() for name in commands)
"""The names of all commands."""
