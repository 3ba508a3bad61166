"""Writes the files of the CIs that are made from the inputs of jobs: python benchmarks/ci_files.py"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ci_eval.ci import inputs
from ci_eval.ci.inputs import (
    CASES,
    COMPARE,
    DESCRIBED,
    ENGINES,
    EVALUATE,
    INPUTS,
    LOGS,
    MERGE,
    STEPS,
    TRAIN,
    Input,
    inputs_of,
)

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ".teamcity/pluginData/_Self/metaRunners"
LIBRARY = ".teamcity/library/CiEval.kt"
COMPONENTS = (EVALUATE, MERGE, COMPARE, ENGINES, LOGS, CASES)
"""Jobs that GitLab has a component for."""
MADE = "Made by benchmarks/ci_files.py from ci_eval/ci/inputs.json."
BEGIN, END = "begin generated: python benchmarks/ci_files.py", "end generated"


def files() -> dict[str, str]:
    """Return what each file should hold, by its path within the repository."""
    written = {f"{RECIPES}/ci-eval-{job}.yml": recipe(job) for job in STEPS}
    written |= {f"templates/{job}.yml": component(job) for job in COMPONENTS}
    written |= {"templates/nightly.yml": nightly(), "templates/note.yml": note()}
    written["action.yml"] = _replace("action.yml", [action_inputs()])
    for name in inputs.WORKFLOWS:
        path = f".github/workflows/{name}.yml"
        # The text says in which order a workflow has its two triggers.
        order = re.findall(r"^  (workflow_call|workflow_dispatch):", (ROOT / path).read_text(encoding="utf-8"), re.M)
        written[path] = _replace(
            path, [called_inputs(name, by_hand=trigger == "workflow_dispatch") for trigger in order]
        )
    written[LIBRARY] = _replace(LIBRARY, [kotlin_fetch()])
    written["docs/ci.md"] = _replace("docs/ci.md", [table()])
    written["docs/ci-inputs.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    return written


def _replace(path: str, blocks: list[str]) -> str:
    """Return the text of a file with other lines between each pair of marks."""
    parts = iter(blocks)
    text = (ROOT / path).read_text(encoding="utf-8")
    pattern = rf"(^[^\n]*{re.escape(BEGIN)}[^\n]*\n).*?(^[^\n]*{END})"
    made, count = re.subn(pattern, lambda old: old[1] + next(parts) + old[2], text, flags=re.M | re.S)
    if count != len(blocks):
        raise ValueError(f"{path} has {count} pairs of marks, and should have {len(blocks)}")
    return made


def _quote(text: object) -> str:
    return json.dumps(text, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------------- GitHub


def described(name: str) -> str:
    """Return the description of an input over all jobs of a step that have it."""
    entries = [entry for entry in INPUTS if entry.name == name and set(entry.jobs) & set(STEPS)]
    return " ".join(_prefix(entry) for entry in entries)


def _prefix(entry: Input) -> str:
    jobs = [job for job in entry.jobs if job in STEPS]
    if len(jobs) > 2:
        return entry.description
    text = entry.description
    begins_a_sentence = text[1] == " " or text[1].islower()
    lowered = text[0].lower() + text[1:] if begins_a_sentence else text
    return f"Of {' and '.join(jobs)}: {lowered}"


def names_of_steps() -> list[str]:
    """Return the names of the inputs that a step may have, in their order."""
    return list(dict.fromkeys(entry.name for entry in INPUTS if set(entry.jobs) & set(STEPS)))


def action_inputs() -> str:
    """Return the inputs of the action."""
    return "".join(f'  {name}: {{description: {_quote(described(name))}, default: ""}}\n' for name in names_of_steps())


def called_inputs(workflow: str, *, by_hand: bool) -> str:
    """Return the inputs of a reusable workflow, as when it is called or as when it is started by hand."""
    chosen = (by_hand and inputs.WORKFLOWS[workflow]) or None
    lines = ["    inputs:"]
    for entry in inputs.WORKFLOW_INPUTS:
        if workflow in entry.workflows and (chosen is None or entry.name in chosen):
            default = entry.defaults.get(workflow, entry.default)
            last = "required: true" if default is None else f"default: {_quote(default)}"
            lines.append(
                f"      {entry.name}: {{description: {_quote(entry.description)}, type: {entry.type}, {last}}}"
            )
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------------------------------------------------- TeamCity

FETCH = """\
case "$INPUT_COMMIT" in ""|*[!0-9a-f]*) commit=none ;; *) commit="$INPUT_COMMIT" ;; esac
kept="${HOME:?}/.cache/ci-eval-agent" && mkdir -p "$kept"
folder="$kept/$commit"
if ! [ -d "$folder" ]; then
  new="$(mktemp -d "$kept/new.XXXXXX")" && trap 'rm -rf "$new"' EXIT
  { [ ${#commit} = 40 ] && git init --quiet "$new" &&
    git -C "$new" fetch --quiet --no-tags --depth 1 -- "$INPUT_SOURCE" "$commit" &&
    git -C "$new" checkout --quiet --detach "$commit" && { mv -T "$new" "$folder" || [ -d "$folder" ]; }; } ||
    { echo "##teamcity[buildProblem identity='ci_eval_source' description='this commit of ci-eval cannot be fetched']"
      exit 4; }
fi
touch "$folder"
find "$kept" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
"""
"""A script that leaves ci-eval's checkout in `$folder`. The agent keeps the checkout, with the environment that run.py
makes in it, until it was not used for thirty days."""


def kotlin_fetch() -> str:
    """Return that script as a list of Kotlin, in which a dollar would be a reference."""
    lines = [f"    {_quote(line)},\n".replace("$", "\\$") for line in FETCH.splitlines()]
    comment = (
        "/** Leaves the checkout of ci-eval in `folder`; the agent keeps it, "
        "and the environment that run.py makes in it. */"
    )
    return f"{comment}\nprivate val fetch = listOf(\n{''.join(lines)})\n"


def recipe(job: str) -> str:
    """Return TeamCity's recipe of a job."""
    entries = [line for entry in inputs_of(job) for line in _recipe_input(job, entry)]
    source = "The Git repository of ci-eval, which is not on PyPI yet: a URL, or a folder on the agent."
    commit = "Of ci-eval, in full; its lock says by digests what else is installed."
    for name, description in (("Source", source), ("Commit", commit)):
        entries += _recipe_field(name.upper(), name, description, ["required: true"])
    script = "set -eu\n" + FETCH + f'python3 "$folder/.teamcity/run.py" ci run {job}\n'
    lines = [
        f"# {MADE}",
        f"name: ci-eval/{job}",
        f"title: ci-eval {job}",
        "version: 1.1.0",
        f"description: {_quote(f'{DESCRIBED[job].summary} {_publishes(job)}')}",
        "inputs:",
        *entries,
        "steps:",
        f"  - name: ci-eval {job}",
        "    # Inputs are variables: nothing of them becomes part of the script.",
        "    script: |",
        *(f"      {line}" for line in script.splitlines()),
    ]
    return "\n".join(lines) + "\n"


def _publishes(job: str) -> str:
    if job == COMPARE:
        return "Publishes comparison.zip, and history.zip if there is a history."
    made = "comparison" if job == ENGINES else DESCRIBED[job].makes
    return f"Publishes {made if job == TRAIN else f'{made}.zip'}."


def _recipe_input(job: str, entry: Input) -> list[str]:
    name = entry.name.upper().replace("-", "_")
    last = [f"required: {str(job in entry.required).lower()}"]
    if entry.name == "output":
        last.append(f'default: "%system.teamcity.build.tempDir%/{DESCRIBED[job].makes}"')
    return _recipe_field(name, entry.label, entry.description, last)


def _recipe_field(name: str, label: str, description: str, last: list[str]) -> list[str]:
    fields = ["type: text", f"label: {_quote(label)}", f"description: {_quote(description)}", *last]
    return [f"  - env.INPUT_{name}:", *(f"      {line}" for line in fields)]


# ------------------------------------------------------------------------------------------------------------- GitLab


KEPT = {"CI_EVAL_CACHE": "cache", "PIP_CACHE_DIR": "pip"}
NIGHT = {"base": ".ci-eval/base", "history": ".ci-eval/history"}
"""Where a comparison has what earlier jobs left in their artifacts."""
PACKAGE = ("package", "ci-eval[ml]", "What pip installs; pin a version, or name a commit as git+https://…@COMMIT.")
INSTALL = 'pip install --quiet "$CI_EVAL_PACKAGE"'
LAST_GOOD = """\
[ -z "$INPUT_HISTORY" ] || [ -e "$INPUT_BASE" ] || CI_EVAL_FIRST_NIGHT="$INPUT_FIRST_NIGHT" ci-eval ci last-good \
"${CI_EVAL_BASE_JOB:-$CI_JOB_NAME}" --base "$INPUT_BASE" --history "$INPUT_HISTORY" --new "$INPUT_NEW"
[ -z "$INPUT_HISTORY" ] || [ -e "$INPUT_BASE" ] || export INPUT_FIRST_NIGHT=true
"""
"""A script that fetches the base, or fails unless this is known to be a first night."""
NIGHTLY_RULES = ("schedule", "web")
"""What starts a night: the schedule, or a click."""


def component(job: str) -> str:
    """Return GitLab's component of a job."""
    entries = []
    for entry in inputs_of(job):
        default = None if job in entry.required else DESCRIBED[job].makes if entry.name == "output" else ""
        if job == COMPARE and entry.name in NIGHT:
            default = NIGHT[entry.name]
        entries.append((entry.name, default, entry.description))
    variables = {name: "INPUT_" + name.upper().replace("-", "_") for name, _, _ in entries}
    script = [INSTALL, f"ci-eval ci run {job}"]
    paths = ["$[[ inputs.output ]]"]
    if job == COMPARE:
        entries.append(
            ("base-job", "", "The job whose artifacts on the default branch have the base; empty = this one.")
        )
        variables["base-job"] = "CI_EVAL_BASE_JOB"
        script.insert(1, LAST_GOOD)
        paths += ["$[[ inputs.new ]]", "$[[ inputs.history ]]"]
    junit = {CASES: "/junit.xml", COMPARE: "/junit.xml", ENGINES: "/comparison/junit.xml"}.get(job, "")
    return _component(job, DESCRIBED[job].summary, entries, variables, script, paths, junit and paths[0] + junit)


def nightly() -> str:
    """Return GitLab's component that evaluates and compares in one job, every night."""
    described = {entry.name: entry.description for entry in INPUTS}
    entries = [
        ("config", None, "A YAML file of the checkout."),
        ("build", "", "A command of bash that builds your engine first."),
        ("gates", "declared >= -2pp", described["gates"]),
        ("first-night", "", described["first-night"]),
    ]
    variables = {"config": "NIGHT_CONFIG", "build": "NIGHT_BUILD", "gates": "INPUT_GATES"}
    variables["first-night"] = "INPUT_FIRST_NIGHT"
    script = [
        INSTALL,
        'bash -euo pipefail -c "$NIGHT_BUILD"',
        'ci-eval evaluate "$NIGHT_CONFIG" --output workspace',
        "export INPUT_NEW=workspace INPUT_OUTPUT=comparison "
        f"INPUT_BASE={NIGHT['base']} INPUT_HISTORY={NIGHT['history']}",
        LAST_GOOD,
        "ci-eval ci run compare",
    ]
    paths = ["comparison", "workspace", NIGHT["history"]]
    summary = "Every night: evaluates, and compares with the last good night."
    started = [f"{{if: '$CI_PIPELINE_SOURCE == {_quote(source)}'}}" for source in NIGHTLY_RULES]
    rules = [f"  rules: [{', '.join(started)}]"]
    return _component("nightly", summary, entries, variables, script, paths, "comparison/junit.xml", rules)


def note() -> str:
    """Return GitLab's component that writes a comparison on a merge request."""
    entries = [("comparison", "comparison", "A folder that compare or compare-engines left; needs says which job.")]
    script = [INSTALL, 'ci-eval ci note "$COMPARISON"']
    rules = ["  rules: [{if: $CI_MERGE_REQUEST_IID, when: always}]"]
    summary = "Writes a comparison on the merge request; CI_EVAL_GITLAB_TOKEN holds a token of the project, with api."
    return _component("note", summary, entries, {"comparison": "COMPARISON"}, script, [], "", rules)


def _component(
    name: str,
    summary: str,
    entries: Sequence[tuple[str, str | None, str]],
    variables: dict[str, str],
    script: list[str],
    paths: list[str],
    junit: str,
    more: Sequence[str] = (),
) -> str:
    """Return a component: its inputs, and the one job. Of `entries`, one whose default is None has to be given."""
    usual = [
        ("job-name", f"ci-eval-{name}", "Another name for each, where a pipeline includes this several times."),
        ("stage", "test", ""),
        ("image", "python:3.12", "Something with Python 3.10 to 3.14, git, and what the engine needs."),
        PACKAGE,
    ]
    lines = [f"# {summary} {MADE}", "spec:", "  inputs:"]
    for entry, default, description in (*usual, *entries):
        fields = [f"default: {_quote(default)}"] if default is not None else []
        fields += [f"description: {_quote(description)}"] if description else []
        lines.append(f"    {entry}: {{{', '.join(fields)}}}")
    lines += ["---", '"$[[ inputs.job-name ]]":', "  stage: $[[ inputs.stage ]]", "  image: $[[ inputs.image ]]", *more]
    lines += ["  variables:"]
    for entry, variable in {"package": "CI_EVAL_PACKAGE", **variables}.items():
        lines.append(f'    {variable}: {{value: "$[[ inputs.{entry} ]]", expand: false}}')
    # What runners keep has to lie in the project's folder.
    lines += [f"    {variable}: $CI_PROJECT_DIR/.ci-eval/{part}" for variable, part in KEPT.items()]
    lines += ["  cache:", "    key: ci-eval-$[[ inputs.job-name ]]-$CI_COMMIT_REF_SLUG", "    when: always"]
    lines += [f"    paths: [{', '.join(f'.ci-eval/{part}' for part in KEPT.values())}]", "  script:"]
    for command in script:
        block = command.splitlines()
        lines += [f"    - {block[0]}"] if len(block) == 1 else ["    - |", *(f"      {line}" for line in block)]
    if paths:
        lines += ["  artifacts:", "    when: always", f"    paths: [{', '.join(map(_quote, paths))}]"]
    if junit:
        lines += [f"    reports: {{junit: {_quote(junit)}}}"]
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------------------- docs


def table() -> str:
    """Return the table of the inputs for docs/ci.md."""
    return "\n".join(["| input | jobs | what |", "|---|---|---|", *_rows()]) + "\n"


def _rows() -> Iterator[str]:
    for entry in INPUTS:
        jobs = [job for job in entry.jobs if job in STEPS]
        if jobs:
            shown = "all" if len(jobs) == len(STEPS) else ", ".join(jobs)
            yield f"| `{entry.name}` | {shown} | {entry.description} |"


def schema() -> dict[str, object]:
    """Return the JSON schema of the inputs: an object with `job` and what that job takes, all of them texts."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Inputs of a step of ci-eval",
        "description": MADE,
        "type": "object",
        "oneOf": [_schema_of(job) for job in STEPS],
    }


def _schema_of(job: str) -> dict[str, object]:
    properties = {entry.name: {"type": "string", "description": entry.description} for entry in inputs_of(job)}
    # The job of a step that names none.
    required = [
        *([] if job == EVALUATE else ["job"]),
        *(entry.name for entry in inputs_of(job) if job in entry.required),
    ]
    return {
        "description": DESCRIBED[job].summary,
        "properties": {"job": {"const": job}, **properties},
        "required": required,
        "additionalProperties": False,
    }


def main() -> None:
    """Write the files of all CI systems from the declared inputs."""
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
    print(f"{len(files())} files, of {len(inputs.JOBS)} jobs")


if __name__ == "__main__":
    main()
