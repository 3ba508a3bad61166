"""Workflows and the action: what checks them finds nothing, and finds what is planted."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.ci.inputs import INPUTS, STEPS
from ci_eval.cli import ci
from ci_eval.cli.group import NAMES
from tests.ci.expressions import evaluate, jobs
from tests.ci.tools import ACTIONLINT, go_tool, language_service
from tests.needs import lack, missing, need_module

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
STEPS_OF_OURS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
"""Actions that only our workflows use."""
ALL = [*WORKFLOWS, ACTION, *STEPS_OF_OURS]


def stem(path: Path) -> str:
    return path.parent.name if path.name == "action.yml" else path.name


Checker = Callable[[Path], tuple[int, str]]


def ran(argv: list[str], cwd: Path) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def workflows(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / ".github" / "workflows").glob("*.yml"))


def schemas(root: Path) -> tuple[int, str]:
    need_module("check_jsonschema")
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    files = workflows(root)
    checks = [
        ran([*program, "vendor.github-workflows", *files], root),
        ran([*program, "custom.github-workflows-require-timeout", *files], root),
        ran([*program, "vendor.github-actions", "action.yml", *map(str, STEPS_OF_OURS)], root),
    ]
    return max(code for code, _ in checks), "".join(said for _, said in checks)


def zizmor(root: Path, *paths: str) -> tuple[int, str]:
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if not program:
        lack(missing("zizmor"))
    config = str(ROOT / ".github" / "zizmor.yml")
    asked = paths or (".github", "action.yml")
    return ran([program, "--offline", "--strict-collection", "--config", config, *asked], root)


def actionlint(root: Path) -> tuple[int, str]:
    # Where the workflows check us out, so that the inputs of our actions are checked too.
    with tempfile.TemporaryDirectory() as copied:
        shutil.copy(root / "action.yml", copied)
        root = Path(shutil.copytree(root / ".github", Path(copied) / ".github")).parent
        (root / ".git").mkdir()
        for name in (".ci-eval", "base", "new"):
            (root / name).symlink_to(".")
        # actionlint 1.7.12 does not know `$/`.
        for path in (root / ".github").rglob("*.yml"):
            path.write_text(path.read_text().replace("uses: $/", "uses: ./"))
        return _actionlint(root)


def _actionlint(root: Path) -> tuple[int, str]:
    return ran([str(go_tool(ACTIONLINT)), *workflows(root)], root)


def service(root: Path) -> tuple[int, str]:
    node = shutil.which("node")
    assert node
    return ran([node, str(language_service()), str(root), *workflows(root), "action.yml"], root)


INSTALLED = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm")]
CHECKERS = [
    schemas,
    zizmor,
    pytest.param(actionlint, marks=INSTALLED),
    pytest.param(service, marks=INSTALLED),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    shutil.copy(ACTION, tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("check", CHECKERS)
def test_the_committed_workflows_pass_every_checker(check: Checker) -> None:
    code, said = check(ROOT)
    assert code == 0, said


EVALUATE, NIGHTLY = ".github/workflows/evaluate.yml", ".github/workflows/nightly.yml"
PLANTED = [
    (schemas, EVALUATE, "timeout-minutes: 60\n", ""),
    (schemas, EVALUATE, "contents: read", "contents: reed"),
    (schemas, "action.yml", "using: composite", "using: composed"),
    (zizmor, EVALUATE, "run: tar -xf engine.tar", "run: echo ${{ github.head_ref }};"),
    (zizmor, EVALUATE, "@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7"),
    (zizmor, ".github/workflows/test.yml", "        with:\n          persist-credentials: false\n", ""),
    (zizmor, ".github/workflows/comment.yml", " # zizmor: ignore[dangerous-triggers]", " #"),
    (zizmor, "action.yml", 'run: \'"$PYTHON"', "run: '${{ inputs.config }}"),
    pytest.param(actionlint, EVALUATE, "needs: [plan, evaluate]", "needs: [plann]", marks=INSTALLED),
    pytest.param(actionlint, EVALUATE, "inputs.setup", "inputs.sett", marks=INSTALLED),
    pytest.param(actionlint, EVALUATE, "completion-type: ${{", "type: ${{", marks=INSTALLED),
    pytest.param(service, EVALUATE, "fromJSON(", "fromJson2(", marks=INSTALLED),
    pytest.param(service, NIGHTLY, "ml-configs: ${{", "ml-confgs: ${{", marks=INSTALLED),
    pytest.param(service, "action.yml", "shell: bash", "shel: bash", marks=INSTALLED),
]


@pytest.mark.parametrize(("check", "path", "old", "new"), PLANTED)
def test_a_planted_mistake_is_caught(check: Checker, path: str, old: str, new: str, copy: Path) -> None:
    file = copy / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    code, said = check(copy)
    assert code != 0, said


# ----------------------------------------------------------------------------------------------------------- our rules


def scripts(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [text for key, text in value.items() if key in {"run", "script"}]
        said = ["\n".join(text) if isinstance(text, list) else text for text in own]
        return [text for text in said if isinstance(text, str)] + [
            text for each in value.values() for text in scripts(each)
        ]
    return [text for each in value for text in scripts(each)] if isinstance(value, list) else []


def triggers(path: Path) -> dict[str, Any]:
    """YAML takes `on` for true."""
    found = yaml.safe_load(path.read_text())[True]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("path", ALL, ids=stem)
def test_every_action_is_pinned_by_its_commit_with_its_version_beside_it(path: Path) -> None:
    for line in path.read_text().splitlines():
        if found := re.search(r"uses: (\S+)(.*)", line):
            is_ours = found[1].startswith(("./", "$/"))
            assert is_ours or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", found[1]), line
            assert is_ours or re.fullmatch(r" # v\d+\.\d+\.\d+", found[2]), line


WRITERS = {
    ("comment", "comment"): {"pull-requests"},
    ("notice", "notice"): {"issues"},
    ("release", "image"): {"packages", "id-token", "attestations"},
    ("release", "publish"): {"id-token", "attestations"},
    ("site", "publish"): {"pages", "id-token"},
    ("release", "tag"): {"contents"},
}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_nothing_but_what_a_job_says(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"], name
        if "uses" not in job:
            # Whoever calls may say how long engines are asked.
            asked = str(job["timeout-minutes"]).startswith("${{ inputs.minutes")
            assert asked or 0 < job["timeout-minutes"] <= 180
        writes = {right for right, level in job["permissions"].items() if level == "write"}
        assert writes <= WRITERS.get((path.stem, name), set())


@pytest.mark.parametrize("path", ALL, ids=stem)
def test_no_expression_stands_in_a_script(path: Path) -> None:
    assert not any("${{" in script for script in scripts(yaml.safe_load(path.read_text())))


def test_every_input_and_output_is_documented_and_all_inputs_are_handed_over() -> None:
    action = yaml.safe_load(ACTION.read_text())
    run = action["runs"]["steps"][-1]
    assert run["env"]["CI_EVAL_INPUTS"] == "${{ toJSON(inputs) }}"
    for values in (action["inputs"], action["outputs"]):
        assert all(each["description"].endswith((".", "pp")) for each in values.values())
    known = {entry.name for entry in INPUTS if set(entry.jobs) & set(STEPS)}
    assert set(action["inputs"]) == known | {"job", "cache", "python-version", "working-directory"}


def commands_in(path: Path) -> list[str]:
    return re.findall(r"(?:run\.py\"?|ci-eval) ([a-z-]+(?: (?<=ci )[a-z-]+)?)", "\n".join(run_by(path)))


def run_by(path: Path) -> list[str]:
    return scripts(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("path", ALL, ids=stem)
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    there = {*NAMES, *(f"ci {name}" for name in ci.ci.commands)}
    assert set(commands_in(path)) <= there


def test_the_commands_that_workflows_use_are_found_in_them() -> None:
    found = {command for path in ALL for command in commands_in(path)}
    asking = {"ci last-good", "ci rankers", "ci summary", "ci notice", "ci comment"}
    assert asking | {"ci run", "ci key", "merge"} <= found


STARTED = [path for path in WORKFLOWS if {"pull_request", "schedule", "workflow_run"} & set(triggers(path))]


@pytest.mark.parametrize("path", STARTED, ids=lambda path: path.stem)
def test_a_pull_request_is_told_from_another_by_its_number_not_by_its_branch(path: Path) -> None:
    assert "head_ref" not in path.read_text()
    workflow = yaml.safe_load(path.read_text())
    group = workflow.get("concurrency", {}).get("group", "")
    assert len(group) < 200
    assert ("pull_request" not in triggers(path)) or "github.event.pull_request.number" in group


def test_the_base_of_a_pull_request_is_the_first_parent_of_what_is_merged() -> None:
    text = (ROOT / ".github" / "workflows" / "pull-request.yml").read_text()
    assert "HEAD^1" in text
    assert "base.sha" not in text


def test_each_side_of_a_pull_request_is_evaluated_by_its_own_code_as_the_change_says() -> None:
    path = ROOT / ".github" / "workflows" / "pull-request.yml"
    steps = yaml.safe_load(path.read_text())["jobs"]["figures"]["steps"]
    base, new, judged = (step for step in steps if step.get("uses", "").startswith("./"))
    assert [step["uses"] for step in (base, new, judged)] == ["./base", "./new", "./new"]
    assert {**base["with"], "output": ""} == {**new["with"], "output": ""}
    assert base["with"]["config"].startswith("new/")


def test_a_ranker_is_trained_every_week_and_kept_for_longer() -> None:
    path = ROOT / ".github" / "workflows" / "generate-ml-logs.yml"
    (schedule,) = triggers(path)["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \d", schedule["cron"])
    assert yaml.safe_load(path.read_text())["jobs"]["train"]["steps"][-1]["with"]["retention-days"] > 14


@pytest.mark.parametrize(
    ("workflow", "jobs"),
    [("evaluate", {"evaluate", "merge"}), ("generate-ml-logs", {"logs", "train"}), ("compare", {"compare"})],
)
def test_what_no_test_drives_may_fail_in_every_job_that_is_about_it(workflow: str, jobs: set[str]) -> None:
    found = yaml.safe_load((ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text())["jobs"]
    marks = ("${{ matrix.allowFailure }}", "${{ inputs.allow-failure }}")
    assert {name for name, job in found.items() if job.get("continue-on-error") in marks} == jobs


@pytest.mark.parametrize("workflow", ["evaluate", "compare", "generate-ml-logs"])
def test_a_workflow_has_the_same_inputs_by_hand_as_when_it_is_called(workflow: str) -> None:
    by = triggers(ROOT / ".github" / "workflows" / f"{workflow}.yml")
    assert by["workflow_dispatch"]["inputs"] == by["workflow_call"]["inputs"]


def test_a_callers_runners_are_those_of_every_job() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text())
        if "workflow_call" in triggers(path):
            assert "runs-on" in triggers(path)["workflow_call"]["inputs"]
            assert all(
                "inputs.runs-on" in str(job.get("runs-on") or job.get("with")) for job in workflow["jobs"].values()
            )


@pytest.mark.registry
@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("my-runner", "my-runner"),
        ('["self-hosted", "gpu"]', ["self-hosted", "gpu"]),
        ('{"group": "large"}', {"group": "large"}),
        ("", "ubuntu-latest"),
    ],
)
def test_runners_are_a_label_or_json(text: str, labels: object) -> None:
    for name in ("evaluate", "notice", "nightly"):
        expressions = {job["runs-on"] for job in jobs(name).values() if "runs-on" in job}
        assert [evaluate(each, inputs={"runs-on": text}) for each in expressions] == [labels]


def test_a_job_that_may_write_restores_no_environment_that_another_job_stored() -> None:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            if (path.stem, name) in WRITERS:
                prepares = [step for step in job["steps"] if str(step.get("uses", "")).endswith("/prepare")]
                assert all(step["with"] == {"cache": False} for step in prepares)


def test_no_cache_is_restored_but_the_one_of_the_same_key() -> None:
    assert "restore-keys:" not in ACTION.read_text()


def test_scripts_are_at_most_61_lines() -> None:
    recipe = ROOT / ".teamcity" / "pluginData" / "_Self" / "metaRunners" / "ci-eval-evaluate.yml"
    # All recipes and components come from one template each.
    files = [*ALL, ROOT / "templates" / "compare.yml", recipe]
    documents = [document for path in files for document in yaml.safe_load_all(path.read_text())]
    assert sum(len(script.splitlines()) for document in documents for script in scripts(document)) <= 61
