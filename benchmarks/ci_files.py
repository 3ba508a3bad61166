"""Writes the files of the CIs that are made from the inputs of jobs: python benchmarks/ci_files.py"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ci_eval.ci import inputs, workflow_inputs
from ci_eval.ci.inputs import COMPARE, ENGINES, EVALUATE, INPUTS, LOGS, STEPS, SUMMARIES, TRAIN, Input, inputs_of

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ".teamcity/pluginData/_Self/metaRunners"
LIBRARY = ".teamcity/library/CiEval.kt"
COMPONENTS = (EVALUATE, COMPARE, ENGINES, LOGS)
"""Jobs that GitLab has a component for."""
MADE = "Made by benchmarks/ci_files.py from ci_eval/ci/inputs.py."
BEGIN, END = "begin generated: python benchmarks/ci_files.py", "end generated"


def files() -> dict[str, str]:
    """Return what each file should hold, by its path within the repository."""
    written = {f"{RECIPES}/ci-eval-{job}.yml": recipe(job) for job in STEPS}
    written |= {f"templates/{job}.yml": component(job) for job in COMPONENTS}
    written["action.yml"] = _replace("action.yml", [action_inputs()])
    for name in workflow_inputs.WORKFLOWS:
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
    return "".join(
        f'  {name}:\n    description: {_quote(described(name))}\n    default: ""\n' for name in names_of_steps()
    )


def called_inputs(workflow: str, *, by_hand: bool) -> str:
    """Return the inputs of a reusable workflow, as when it is called or as when it is started by hand."""
    chosen = workflow_inputs.BY_HAND.get(workflow) if by_hand else None
    lines = ["    inputs:"]
    for entry in workflow_inputs.INPUTS:
        if workflow in entry.workflows and (chosen is None or entry.name in chosen):
            default = entry.defaults.get(workflow, entry.default)
            last = "required: true" if default is None else f"default: {_quote(default)}"
            lines += [f"      {entry.name}:", f"        description: {_quote(entry.description)}"]
            lines += [f"        type: {entry.type}", f"        {last}"]
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
        f"description: {_quote(f'{SUMMARIES[job]} {_publishes(job)}')}",
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
    return f"Publishes {'comparison.zip' if job == ENGINES else STEPS[job] if job == TRAIN else f'{STEPS[job]}.zip'}."


def _recipe_input(job: str, entry: Input) -> list[str]:
    name = entry.name.upper().replace("-", "_")
    last = [f"required: {str(job in entry.required).lower()}"]
    if entry.name == "output":
        last.append(f'default: "%system.teamcity.build.tempDir%/{STEPS[job]}"')
    return _recipe_field(name, entry.label, entry.description, last)


def _recipe_field(name: str, label: str, description: str, last: list[str]) -> list[str]:
    fields = ["type: text", f"label: {_quote(label)}", f"description: {_quote(description)}", *last]
    return [f"  - env.INPUT_{name}:", *(f"      {line}" for line in fields)]


# ------------------------------------------------------------------------------------------------------------- GitLab


KEPT = {"CI_EVAL_CACHE": "cache", "PIP_CACHE_DIR": "pip"}
NIGHT = {"base": ".ci-eval/base", "history": ".ci-eval/history"}
"""What a comparison keeps from night to night."""
NEXT_BASE = 'case "$INPUT_BASE" in .ci-eval/*) rm -rf "$INPUT_BASE" && cp -r "$INPUT_NEW" "$INPUT_BASE" ;; esac'


def component(job: str) -> str:
    """Return GitLab's component of a job."""
    entries = [
        ("job-name", f'"ci-eval-{job}"', "Another name for each, where a pipeline includes this several times."),
        ("stage", "test", ""),
        ("image", "python:3.12", "Something with Python 3.10 to 3.14, git, and what the engine needs."),
        ("package", '"ci-eval[ml]"', "What pip installs; pin a version, or name a commit as git+https://…@COMMIT."),
    ]
    for entry in inputs_of(job):
        default = "" if job in entry.required else STEPS[job] if entry.name == "output" else '""'
        if job == COMPARE and entry.name in NIGHT:
            default = NIGHT[entry.name]
        entries.append((entry.name, default, entry.description))
    lines = [f"# {SUMMARIES[job]} {MADE}", "spec:", "  inputs:"]
    for name, default, description in entries:
        lines.append(f"    {name}:")
        lines += [f"      default: {default}"] if default else []
        lines += [f"      description: {_quote(description)}"] if description else []
    variables = [("CI_EVAL_PACKAGE", "package")]
    variables += [(f"INPUT_{entry.name.upper().replace('-', '_')}", entry.name) for entry in inputs_of(job)]
    lines += ["---", '"$[[ inputs.job-name ]]":', "  stage: $[[ inputs.stage ]]", "  image: $[[ inputs.image ]]"]
    lines += ["  variables:"]
    for variable, name in variables:
        lines += [f"    {variable}:", f"      value: $[[ inputs.{name} ]]", "      expand: false"]
    # What runners keep has to lie in the project's folder.
    lines += [f"    {name}: $CI_PROJECT_DIR/.ci-eval/{part}" for name, part in KEPT.items()]
    lines += ["  cache:", "    key: ci-eval-$[[ inputs.job-name ]]-$CI_COMMIT_REF_SLUG", "    when: always"]
    lines += ["    paths:", "      - .ci-eval"]
    lines += ["  script:", '    - pip install --quiet "$CI_EVAL_PACKAGE"', f"    - ci-eval ci run {job}"]
    if job == COMPARE:
        lines += ["    # A night that kept its gates is the base of the next one.", f"    - {_quote(NEXT_BASE)}"]
    lines += ["  artifacts:", "    when: always", "    paths:", "      - $[[ inputs.output ]]"]
    if job in (COMPARE, ENGINES):
        inner = "comparison/junit.xml" if job == ENGINES else "junit.xml"
        lines += ["    reports:", f"      junit: $[[ inputs.output ]]/{inner}"]
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
        "description": SUMMARIES[job],
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
