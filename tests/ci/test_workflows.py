"""Workflows and actions: what checks them finds nothing, and finds what is planted; their inputs reach the real CLI."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import click
import pytest
import yaml

from ci_eval.cli import cli
from tests.ci.tools import ACTIONLINT, go_tool, language_service

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
RUN = run_path(str(ROOT / ".github" / "actions" / "run.py"))

Checker = Callable[[Path], tuple[int, str]]


def ran(argv: list[str], cwd: Path) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def paths(root: Path, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / ".github").glob(pattern))


def schemas(root: Path) -> tuple[int, str]:
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    workflows, actions = paths(root, "workflows/*.yml"), paths(root, "actions/*/action.yml")
    checks = [
        ran([*program, "vendor.github-workflows", *workflows], root),
        ran([*program, "custom.github-workflows-require-timeout", *workflows], root),
        ran([*program, "vendor.github-actions", *actions], root),
    ]
    return max(code for code, _ in checks), "".join(said for _, said in checks)


def zizmor(root: Path) -> tuple[int, str]:
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    assert program, "zizmor is in the extra `test`"
    return ran([program, "--offline", "--strict-collection", "--config", ".github/zizmor.yml", ".github"], root)


def actionlint(root: Path) -> tuple[int, str]:
    # Where the workflows check us out, so that the inputs of our actions are checked too.
    with tempfile.TemporaryDirectory() as copied:
        root = Path(shutil.copytree(root / ".github", Path(copied) / ".github")).parent
        (root / ".git").mkdir()
        (root / ".ci-eval").symlink_to(".")
        return _actionlint(root)


def _actionlint(root: Path) -> tuple[int, str]:
    return ran([str(go_tool(ACTIONLINT)), *paths(root, "workflows/*.yml")], root)


def service(root: Path) -> tuple[int, str]:
    node = shutil.which("node")
    assert node
    files = paths(root, "workflows/*.yml") + paths(root, "actions/*/action.yml")
    return ran([node, str(language_service()), str(root), *files], root)


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
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("check", CHECKERS)
def test_what_is_committed_passes(check: Checker) -> None:
    code, said = check(ROOT)
    assert code == 0, said


PLANTED = [
    (schemas, "workflows/evaluate.yml", "timeout-minutes: 180\n", ""),
    (schemas, "workflows/evaluate.yml", "contents: read", "contents: reed"),
    (schemas, "actions/evaluate/action.yml", "using: composite", "using: composed"),
    (
        zizmor,
        "workflows/evaluate.yml",
        "run: python3 .ci-eval/.github/actions/run.py merge",
        "run: echo ${{ github.head_ref }};",
    ),
    (zizmor, "workflows/evaluate.yml", "@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7"),
    (zizmor, "workflows/test.yml", "        with:\n          persist-credentials: false\n", ""),
    (zizmor, "workflows/comment.yml", " # zizmor: ignore[dangerous-triggers]", " #"),
    pytest.param(actionlint, "workflows/evaluate.yml", "needs: plan", "needs: plann", marks=INSTALLED),
    pytest.param(actionlint, "workflows/evaluate.yml", "inputs.set", "inputs.sett", marks=INSTALLED),
    pytest.param(actionlint, "workflows/evaluate.yml", "completion-type: ${{", "type: ${{", marks=INSTALLED),
    pytest.param(service, "workflows/evaluate.yml", "fromJSON(", "fromJson2(", marks=INSTALLED),
    pytest.param(
        service, "workflows/nightly.yml", "completion-types: BASIC", "completion-tipes: BASIC", marks=INSTALLED
    ),
    pytest.param(service, "actions/compare/action.yml", "shell: bash", "shel: bash", marks=INSTALLED),
]


@pytest.mark.parametrize(("check", "path", "old", "new"), PLANTED)
def test_a_planted_mistake_is_caught(check: Checker, path: str, old: str, new: str, copy: Path) -> None:
    file = copy / ".github" / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    code, said = check(copy)
    assert code != 0, said


# ----------------------------------------------------------------------------------------------------------- our rules


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: "/".join(path.parts[-2:]))
def test_every_action_is_pinned_by_its_commit_with_its_version_beside_it(path: Path) -> None:
    for line in path.read_text().splitlines():
        if found := re.search(r"uses: (\S+)(.*)", line):
            assert found[1].startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", found[1]), line
            assert found[1].startswith("./") or re.fullmatch(r" # v\d+\.\d+\.\d+", found[2]), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_nothing_but_what_a_job_says(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    for name, job in workflow["jobs"].items():
        assert job["permissions"], name
        if "uses" not in job:
            assert 0 < job["timeout-minutes"] <= 180
        writes = {right for right, level in job["permissions"].items() if level == "write"}
        assert writes <= ({"pull-requests"} if path.stem == "comment" else set())


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: "/".join(path.parts[-2:]))
def test_no_expression_stands_in_a_script(path: Path) -> None:
    def scripts(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [text for key, text in value.items() if key in {"run", "script"} and isinstance(text, str)]
            return own + [text for each in value.values() for text in scripts(each)]
        return [text for each in value for text in scripts(each)] if isinstance(value, list) else []

    assert not any("${{" in script for script in scripts(yaml.safe_load(path.read_text())))


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_every_input_is_documented_and_handed_over(path: Path) -> None:
    action = yaml.safe_load(path.read_text())
    run = action["runs"]["steps"][-1]
    handed = {name.removeprefix("INPUT_").lower().replace("_", "-") for name in run["env"] if name.startswith("INPUT_")}
    assert handed == set(action["inputs"]) - {"cache", "python-version"}
    for values in (action["inputs"], action["outputs"]):
        assert all(each["description"].endswith((".", "pp")) for each in values.values())


VALUES = {
    "jobs": "2", "shard": "1/2", "set": "interpret.seed=1\n\ninterpret.sessionsLimit=5",
    "log-formats": "jsonl\nparquet", "gates": "RecallAt1 >= -1pp\nRecall >= 90%", "more": "c\nd",
}  # fmt: skip


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("hostile", [False, True], ids=["plain", "hostile"])
def test_inputs_become_options_that_the_real_cli_understands(
    path: Path, hostile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = yaml.safe_load(path.read_text())
    for name in action["inputs"]:
        value = VALUES.get(name, "--output=x; $(touch y)" if hostile else "x")
        monkeypatch.setenv(f"INPUT_{name.upper().replace('-', '_')}", value)
    name, *argv = RUN["arguments"](path.parent.name)
    command = cli.commands[name]
    context = command.make_context(name, argv, resilient_parsing=False)
    given = context.params
    assert str(given["output"]) == ("--output=x; $(touch y)" if hostile else "x")
    if name == "compare":
        assert len(given["workspaces"]) == 4
        assert given["gates"] == ("RecallAt1 >= -1pp", "Recall >= 90%")
    else:
        assert given["overrides"] == ("interpret.seed=1", "interpret.sessionsLimit=5")
        assert given["shard"] == "1/2"


def test_without_inputs_there_are_no_options(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "OUTPUT", "SET"):
        monkeypatch.setenv(f"INPUT_{name}", "")
    assert list(RUN["arguments"]("evaluate")) == ["evaluate"]
    assert isinstance(cli, click.Group)


def commands_in(path: Path) -> list[str]:
    return re.findall(r"run\.py\"? ([a-z-]+)", path.read_text())


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: "/".join(path.parts[-2:]))
def test_every_command_of_a_workflow_exists(path: Path) -> None:
    assert set(commands_in(path)) <= set(cli.commands)
