"""The stand-ins for GitHub's actions do what those do: cases, and what the actions' own code makes of them.

The results are what actions/download-artifact 3e5f45b (v8.0.1) and actions/upload-artifact bbbca2d (v7.0.0) gave at the
same server. Where CI_EVAL_ACTIONS names a folder with checkouts of the two, they are asked in place of the stand-ins.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from ci_eval.ci import limits
from tests.ci.github_api import Services, served
from tests.ci.stand_ins import NODE, ROOT, SHELL, module
from tests.waiting import HANGS

pytestmark = pytest.mark.registry

ACTIONS = os.environ.get("CI_EVAL_ACTIONS", "")
ENTRY = {"upload-artifact": "dist/upload/index.js", "download-artifact": "dist/index.js"}
Inputs = Mapping[str, str]


@dataclass
class Runner:
    """Runs one step after the other in a workspace."""

    folder: Path
    services: Services

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def step(self, action: str, inputs: Inputs, attempt: int = 1) -> tuple[int, str]:
        """Exit code and log."""
        given = {**NODE[action][1], "repository": "o/r", "run-id": "1", **inputs}
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": "1",
            "GITHUB_API_URL": self.services.address,
            "ACTIONS_RESULTS_URL": self.services.address,
            "ACTIONS_RUNTIME_TOKEN": self.services.token(1, attempt),
            **{f"INPUT_{name.upper()}": text for name, text in given.items()},
        }
        argv = ["node", str(self._entry(action))]
        done = subprocess.run(
            argv, cwd=self.workspace, env=environment, capture_output=True, text=True, timeout=HANGS, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def _entry(self, action: str) -> Path:
        if ACTIONS:
            return Path(ACTIONS).resolve() / action / ENTRY[action]
        entry = self.folder / action / "index.mjs"
        if not entry.exists():
            entry.parent.mkdir()
            entry.write_text(module(action, NODE[action][0]))
        return entry

    def store(self, *names: str) -> None:
        """Artifacts with a file each."""
        (self.services.artifacts / "1").mkdir(exist_ok=True)
        for name in names:
            with zipfile.ZipFile(self.services.artifacts / "1" / f"{name}.zip", "w") as archive:
                archive.writestr(f"{name}.txt", name)

    def files(self) -> set[str]:
        """All in the workspace."""
        return {str(path.relative_to(self.workspace)) for path in self.workspace.rglob("*") if path.is_file()}

    def stored(self, name: str = "artifact") -> set[str]:
        """The files of an artifact."""
        with zipfile.ZipFile(self.services.artifacts / "1" / f"{name}.zip") as archive:
            return set(archive.namelist())


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """In an empty workspace, without artifacts."""
    for name in ("artifacts", "workspace"):
        (tmp_path / name).mkdir()
    with served(Services(tmp_path / "artifacts")) as services:
        yield Runner(tmp_path, services)


# ---------------------------------------------------------------------------------------------------------- download

TO = {"path": "to"}
ELSEWHERE = {"github-token": "t", "path": "to"}
DOWNLOADS: list[tuple[str, Inputs, set[str]]] = [
    ("one", {**TO, "name": "one"}, {"to/one.txt"}),
    ("one two", {**TO, "name": "one"}, {"to/one.txt"}),
    ("one two", {**TO, "name": "one", "pattern": "t*"}, {"to/one.txt"}),
    ("one", {**TO, "pattern": "o*"}, {"to/one.txt"}),
    ("one two", {**TO, "pattern": "o*"}, {"to/one.txt"}),
    ("one two", {**TO, "pattern": "*o*"}, {"to/one/one.txt", "to/two/two.txt"}),
    ("one two", {**TO, "pattern": "x*"}, set()),
    ("one", {**TO, "pattern": "*", "merge-multiple": "true"}, {"to/one.txt"}),
    ("one two", {**TO, "pattern": "*", "merge-multiple": "true"}, {"to/one.txt", "to/two.txt"}),
    ("", TO, set()),
    ("one", TO, {"to/one.txt"}),
    ("one two", TO, {"to/one/one.txt", "to/two/two.txt"}),
    ("one", {}, {"one.txt"}),
    ("one", {**ELSEWHERE, "pattern": "o*"}, {"to/one.txt"}),
    ("one two", {**ELSEWHERE, "pattern": "*"}, {"to/one/one.txt", "to/two/two.txt"}),
    ("one two", {**ELSEWHERE, "name": "two"}, {"to/two.txt"}),
    ("s-a-1-of-1 s-a.0f-1-of-1", {**TO, "pattern": "s-a-*"}, {"to/s-a-1-of-1.txt"}),
    ("s-a-1 s-a-b-1", {**TO, "pattern": "s-a-*"}, {"to/s-a-1/s-a-1.txt", "to/s-a-b-1/s-a-b-1.txt"}),
    ("s-1 s-2 s-x", {**TO, "pattern": "s-[0-9]"}, {"to/s-1/s-1.txt", "to/s-2/s-2.txt"}),
]
NOT_DOWNLOADED: list[tuple[str, Inputs, str]] = [
    ("one", {"name": "on"}, "Unable to download artifact(s): Artifact not found for name: on"),
    ("one", {"name": "o*"}, "Unable to download artifact(s): Artifact not found for name: o*"),
    ("one", {**ELSEWHERE, "name": "on"}, "Unable to download artifact(s): Artifact not found for name: on"),
    ("one", {"name": "one", "artifact-ids": "1"}, "Inputs 'name' and 'artifact-ids' cannot be used together."),
    ("one", {"artifact-ids": "1"}, "None of the provided artifact IDs were found"),
    ("one", {"artifact-ids": "1,x"}, "Invalid artifact ID: 'x'. Must be a number."),
    ("one", {"artifact-ids": " , "}, "No valid artifact IDs provided in 'artifact-ids' input"),
    ("one", {"digest-mismatch": "x"}, "Valid options are: ignore, info, warn, error"),
    ("one", {"merge-multiple": "x"}, 'Input does not meet YAML 1.2 "Core Schema" specification: merge-multiple'),
    ("one", {**ELSEWHERE, "repository": "r"}, "Invalid repository: 'r'. Must be in format owner/repo"),
]


@pytest.mark.parametrize(("names", "inputs", "files"), DOWNLOADS)
def test_what_is_downloaded_lies_where_the_action_puts_it(
    runner: Runner, names: str, inputs: Inputs, files: set[str]
) -> None:
    runner.store(*names.split())
    code, log = runner.step("download-artifact", inputs)
    assert code == 0, log
    assert runner.files() == files


@pytest.mark.parametrize(("names", "inputs", "said"), NOT_DOWNLOADED)
def test_a_download_fails_where_the_action_does(runner: Runner, names: str, inputs: Inputs, said: str) -> None:
    runner.store(*names.split())
    code, log = runner.step("download-artifact", inputs)
    assert (code, said in log) == (1, True), log
    assert runner.files() == set()


def test_artifacts_of_another_run_are_all_found_though_they_come_in_pages(runner: Runner) -> None:
    runner.store(*(f"a{i}" for i in range(103)))
    code, log = runner.step("download-artifact", {**ELSEWHERE, "pattern": "a10*"})
    assert code == 0, log
    assert runner.files() == {f"to/{name}/{name}.txt" for name in ("a10", "a100", "a101", "a102")}


@pytest.mark.parametrize(("behaviour", "code"), [("error", 1), ("warn", 0), ("info", 0), ("ignore", 0)])
def test_an_artifact_that_changed_since_is_refused_unless_the_step_says_otherwise(
    runner: Runner, behaviour: str, code: int
) -> None:
    runner.store("one")
    runner.services.digests[runner.services.artifacts / "1" / "one.zip"] = f"sha256:{'0' * 64}"
    done, log = runner.step("download-artifact", {"digest-mismatch": behaviour})
    assert done == code, log
    assert ("Digest validation failed for artifact(s): one" in log) == (behaviour == "error")
    assert ("Artifact 'one' digest validation failed" in log) == (behaviour in {"warn", "info"})


# ------------------------------------------------------------------------------------------------------------ upload

W = {"path": "w"}
UPLOADS: list[tuple[str, Inputs, set[str]]] = [
    ("w/a w/d/b", W, {"a", "d/b"}),
    ("w/a w/.h w/.d/b", W, {"a"}),
    ("w/a w/.h w/.d/b", {**W, "include-hidden-files": "true"}, {"a", ".h", ".d/b"}),
    ("w/a", {"path": "w/a"}, {"a"}),
    ("w/a w/b", {"path": "w/*"}, {"a", "b"}),
    ("w/d/a", {"path": "w/**/a"}, {"d/a"}),
    ("w/a v/b", {"path": "w\nv/b"}, {"w/a", "v/b"}),
    ("w/d/a w/d/e/b", {"path": "w/d/a\nw/d/e"}, {"a", "e/b"}),
    ("w/a w/b", {"path": "w\n!w/b"}, {"a"}),
]
NOT_UPLOADED: list[tuple[str, Inputs, int, str]] = [
    ("v/a", W, 0, "No files were found with the provided path: w. No artifacts will be uploaded."),
    ("v/a", {**W, "if-no-files-found": "ignore"}, 0, "No files were found with the provided path: w."),
    ("v/a", {**W, "if-no-files-found": "error"}, 1, "No files were found with the provided path: w."),
    ("w/.a", {**W, "if-no-files-found": "error"}, 1, "No files were found with the provided path: w."),
    ("v/a", {**W, "if-no-files-found": "x"}, 1, "Unrecognized if-no-files-found input. Provided: x."),
    ("w/a", {}, 1, "Input required and not supplied: path"),
    ("w/a", {**W, "name": ""}, 1, "Provided artifact name input during validation is empty"),
    ("w/a w/b", {**W, "archive": "false"}, 1, "When 'archive' is set to false, only a single file can be uploaded."),
    ("w/a:b", W, 1, "The path for one of the files in artifact is not valid: /a:b."),
]


def made(workspace: Path, paths: str) -> None:
    for path in paths.split():
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path)


@pytest.mark.parametrize(("paths", "inputs", "files"), UPLOADS)
def test_an_artifact_has_the_files_that_the_action_puts_there(
    runner: Runner, paths: str, inputs: Inputs, files: set[str]
) -> None:
    made(runner.workspace, paths)
    code, log = runner.step("upload-artifact", inputs)
    assert code == 0, log
    assert runner.stored() == files


@pytest.mark.parametrize(("paths", "inputs", "code", "said"), NOT_UPLOADED)
def test_nothing_is_uploaded_where_the_action_uploads_nothing(
    runner: Runner, paths: str, inputs: Inputs, code: int, said: str
) -> None:
    made(runner.workspace, paths)
    done, log = runner.step("upload-artifact", inputs)
    assert (done, said in log) == (code, True), log
    assert not list(runner.services.artifacts.rglob("*.zip"))


FORBIDDEN = '":<>|*?\r\n\\/'
"""Characters that no artifact's name may have: `upload/path-and-artifact-name-validation` of the npm package
@actions/artifact 6.2.1."""


@pytest.mark.parametrize("character", FORBIDDEN, ids=lambda character: f"{ord(character):02x}")
def test_a_name_that_github_forbids_is_refused(runner: Runner, character: str) -> None:
    made(runner.workspace, "w/a")
    code, log = runner.step("upload-artifact", {**W, "name": f"a{character}b"})
    assert (code, "The artifact name is not valid" in log) == (1, True), log


def test_every_name_that_we_make_is_one_that_github_takes(runner: Runner) -> None:
    made(runner.workspace, "w/a")
    name = limits.name("Ä" + FORBIDDEN + "x" * 200)
    assert runner.step("upload-artifact", {**W, "name": name})[0] == 0
    assert runner.step("download-artifact", {**TO, "pattern": f"{name}*"})[0] == 0
    assert runner.files() == {"w/a", "to/a"}


def test_a_name_is_used_once_in_an_attempt_unless_it_is_overwritten(runner: Runner) -> None:
    made(runner.workspace, "w/a")
    assert runner.step("upload-artifact", W)[0] == 0
    made(runner.workspace, "w/b")
    code, log = runner.step("upload-artifact", W)
    assert (code, "409" in log) == (1, True), log
    assert runner.stored() == {"a"}
    assert runner.step("upload-artifact", {**W, "overwrite": "true"})[0] == 0
    assert runner.stored() == {"a", "b"}


def test_a_further_attempt_uploads_the_name_again_and_the_newest_is_downloaded(runner: Runner) -> None:
    made(runner.workspace, "w/a")
    assert runner.step("upload-artifact", W)[0] == 0
    made(runner.workspace, "w/b")
    assert runner.step("upload-artifact", W, attempt=2)[0] == 0
    for inputs in ({"name": "artifact"}, {"pattern": "art*"}, {**ELSEWHERE, "name": "artifact"}):
        code, log = runner.step("download-artifact", {**TO, **inputs}, attempt=2)
        assert code == 0, log
        assert runner.files() == {"w/a", "w/b", "to/a", "to/b"}


# ------------------------------------------------------------------------------------------------------------ groups

BOUNDED = {
    "event.pull_request.number", "event.workflow_run.head_sha", "event.workflow_run.workflow_id", "inputs.name",
    "run_id", "workflow",
}  # fmt: skip
"""Of `github`: numbers, a digest, and the name of a workflow; and the name of a night, which is part of an artifact's
name. Other inputs have any length."""


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_concurrency_group_holds_nothing_that_makes_it_longer_than_github_takes(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    for each in (workflow, *workflow["jobs"].values()):
        group = each.get("concurrency", {}).get("group", "")
        used = [part.strip() for text in re.findall(r"\$\{\{(.*?)\}\}", group) for part in text.split("||")]
        assert {part.removeprefix("github.") for part in used} <= BOUNDED
        # GitHub takes 400 characters, it said to https://github.com/cilium/cilium/pull/18201.
        assert len(group) < 400


# ---------------------------------------------------------------------------------------------------------- checkout


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("depth", "ref", "commits", "branches"),
    [("", "", 1, ""), ("2", "", 2, ""), ("0", "", 3, "main"), ("", "main", 1, "main")],
)
def test_checkout_has_one_commit_unless_it_is_told_otherwise(
    tmp_path: Path, depth: str, ref: str, commits: int, branches: str
) -> None:
    repository, workspace = tmp_path / "o" / "r", tmp_path / "w"
    for folder in (repository, workspace / "left-over"):
        folder.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    for message in "abc":
        git(repository, "commit", "-q", "--allow-empty", "-m", message)
    head = git(repository, "rev-parse", "HEAD")
    environment = {
        **os.environ, "REPOSITORIES": str(tmp_path), "GITHUB_REPOSITORY": "o/r", "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_SHA": head, "INPUT_FETCH_DEPTH": depth, "INPUT_REF": ref, "INPUT_PATH": "", "INPUT_REPOSITORY": "",
    }  # fmt: skip
    for _ in range(2):
        (workspace / "rubbish").touch()
        subprocess.run(["bash", "-e", "-c", str(SHELL["checkout"]["run"])], env=environment, check=True)
        assert [path.name for path in workspace.iterdir()] == [".git"]
    assert git(workspace, "rev-parse", "HEAD") == head
    assert len(git(workspace, "rev-list", "HEAD").split()) == commits
    assert git(workspace, "branch", "-r").replace("origin/", "").strip() == branches


@pytest.mark.checkouts
@pytest.mark.parametrize("action", ENTRY)
def test_inputs_and_defaults_are_those_of_the_action(action: str) -> None:
    inputs = yaml.safe_load((Path(ACTIONS) / action / "action.yml").read_text())["inputs"]
    assert {name: field.get("default", "") for name, field in inputs.items()} == NODE[action][1]
