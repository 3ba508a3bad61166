"""The workflows executed: three nights, what other repositories call them for, and the second attempt of a run.

All of it is one story in two repositories, run once by one worker; a test reads a part of what it left behind.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.ci import limits
from tests.ci.attempts import again
from tests.ci.documentation import documented
from tests.ci.stand_ins import OURS, ROOT, THEIRS, GitHub, github
from tests.projects import GREETER, write

pytestmark = [
    pytest.mark.engine,
    pytest.mark.registry,
    pytest.mark.needs("go", "node", "npm", "make"),
    pytest.mark.slow(minutes=2),
    pytest.mark.xdist_group("nights"),
]

FIRST, CALLED, SECOND, THIRD, RERUN, POISONED, LOGS = 41, 42, 43, 44, 23, 40, 24
"""Runs. The second night is red; the third one asks anew."""
PYTHON, RANKED, JAVASCRIPT = "python-words-basic", "python-words-ml", "javascript-words-basic"
# Named, since two repositories evaluate it.
PROJECT = {"spec": "path:project", "name": "project"}
JAVASCRIPT_CONFIG: dict[str, object] = {"language": "javascript", "engine": "words", "project": PROJECT}
PROJECTS = ["path:project", "path:other"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Two languages' worth of configurations, with the engine words, which starts fast."""
    folder = tmp_path_factory.mktemp("github")
    files = {f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(4)}
    scripts = {f"file{i}__js": f"const first{i} = 1;\nconsole.log(first{i}, first{i});\n" for i in range(4)}
    project = write(folder / "p", **files, **scripts)
    configs: dict[str, dict[str, object]] = {
        "python": {"language": "python", "engine": "words", "project": PROJECT},
        "javascript": JAVASCRIPT_CONFIG,
    }
    with github(folder, configs, project, {}) as served:
        yield served


def evaluation(folder: Path) -> dict[str, Any]:
    """Of a workspace's reports."""
    (found,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Nights:
    """The first one has no ranker, and an engine that may fail; the second one has a ranker, and an evaluation that
    breaks a gate; the third one asks anew. Between the first two, workflows are called."""

    hub: GitHub
    codes: dict[int, int] = field(default_factory=dict)
    logs: dict[int, str] = field(default_factory=dict)

    def run(self, number: int, **inputs: Any) -> None:
        """One more."""
        self.hub.commit(OURS)
        caches = self.hub.folder / "nights"
        self.codes[number], self.logs[number] = self.hub.run("nightly", number, caches=caches, **inputs)

    def call(self, number: int, jobs: str) -> None:
        """A run of another repository whose jobs call our workflows."""
        self.hub.call(THEIRS, "calling", jobs)
        self.codes[number], self.logs[number] = self.hub.run("calling", number, repository=THEIRS)

    def read(self, night: int, name: str, file: str) -> dict[str, Any]:
        """A file of an artifact."""
        return dict(json.loads((self.hub.artifact(night, name) / file).read_text()))

    def figures(self, night: int, name: str) -> dict[str, Any]:
        """Over all sessions of an evaluation."""
        return dict(evaluation(self.hub.artifact(night, f"workspace-{name}"))["filters"]["ALL"])


@pytest.fixture(scope="module")
def nights(hub: GitHub) -> Nights:
    """Return the stand-in of GitHub after all three nights."""
    configs, nights = hub.repository(OURS) / "configs", Nights(hub)
    # No source of it is in the project, so that no shard leaves a workspace.
    unverified = {"language": "rust", "engine": "rust-analyzer", "project": "path:project"}
    write(configs / "unverified", rust__yaml=yaml.safe_dump(unverified))
    nights.run(FIRST)
    shutil.rmtree(configs / "unverified")

    prepare_callers(hub)
    poison(hub)
    nights.call(CALLED, CALLING.replace("CACHE=CACHE", f"CI_EVAL_CACHE={hub.folder / 'another-cache'}"))

    (configs / "javascript.yaml").unlink()
    usual = (configs / "python.yaml").read_text()
    gated = {**yaml.safe_load(usual), "comparison": {"gates": ["RecallAt1 >= 100%"]}}
    (configs / "python.yaml").write_text(yaml.safe_dump(gated))
    nights.run(SECOND)
    (configs / "python.yaml").write_text(usual)
    hub.services.expired.add(f"{CALLED}/ranker-python")
    nights.run(THIRD, fresh="true")
    write(configs, javascript__yaml=yaml.safe_dump(JAVASCRIPT_CONFIG))
    hub.commit(OURS)

    logs = "\n".join(f"run {number}: {code}\n{nights.logs[number]}" for number, code in nights.codes.items())
    red = {number for number, code in nights.codes.items() if code}
    assert red == {CALLED, SECOND}, logs
    return nights


def test_a_night_uploads_one_workspace_per_evaluation(nights: Nights) -> None:
    names = nights.hub.names(FIRST)
    assert {f"workspace-{name}" for name in (PYTHON, JAVASCRIPT)} <= names
    assert not [name for name in names if name.startswith("shard-")]
    for name in (PYTHON, JAVASCRIPT):
        figures = nights.figures(FIRST, name)
        assert figures["sessions"] == figures["planned"] > 0
        manifest = nights.read(FIRST, f"workspace-{name}", "manifest.json")
        assert (manifest["shard"], len(manifest["digests"])) == (None, 7)


def test_a_night_is_compared_with_the_one_before_it_and_has_a_ranker(nights: Nights) -> None:
    evaluations = {FIRST: {PYTHON, JAVASCRIPT}, SECOND: {PYTHON, RANKED}, THIRD: {PYTHON}}
    for night, names in evaluations.items():
        for kind in ("workspace", "comparison", "history"):
            assert {name for name in nights.hub.names(night) if name.startswith(f"{kind}-")} == {
                f"{kind}-{name}" for name in names
            }
    first = nights.read(FIRST, f"comparison-{PYTHON}", "overview.json")
    second = nights.read(SECOND, f"comparison-{PYTHON}", "comparison.json")
    assert len(first["trend"]["nights"]) == 1
    assert second["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"
    assert len(second["trend"]["nights"]) == 2
    assert len(list(nights.hub.artifact(SECOND, f"history-{PYTHON}").iterdir())) == 2


def test_a_night_takes_over_what_its_shards_were_answered_the_night_before(nights: Nights) -> None:
    first, second, anew = (
        nights.read(night, f"workspace-{PYTHON}", "manifest.json") for night in (FIRST, SECOND, THIRD)
    )
    assert [manifest.get("reused", 0) for manifest in (first, anew)] == [0, 0]
    assert 0 < second["reused"] < second["finished"]
    figures = [nights.figures(night, PYTHON)["metrics"]["RecallAt1"] for night in (FIRST, SECOND)]
    assert figures[0] == figures[1]


def test_a_red_evaluation_takes_neither_base_nor_gates_from_its_siblings(nights: Nights) -> None:
    good = {
        night: {name for name in nights.hub.names(night) if name.startswith("good-")}
        for night in (FIRST, SECOND, THIRD)
    }
    assert good == {
        FIRST: {f"good-{PYTHON}", f"good-{JAVASCRIPT}"},
        SECOND: {f"good-{RANKED}"},
        THIRD: {f"good-{PYTHON}"},
    }
    report = nights.read(THIRD, f"comparison-{PYTHON}", "comparison.json")
    base = nights.read(FIRST, f"workspace-{PYTHON}", "manifest.json")
    assert report["sides"]["base"]["started"] == base["start"]
    assert len(report["trend"]["nights"]) == 3
    assert report["gates"]
    assert all(gate["passed"] for gate in report["gates"])


def test_a_broken_gate_fails_the_night_and_its_reports_are_published(nights: Nights) -> None:
    log = nights.logs[SECOND]
    assert "RecallAt1 &gt;= 100%" in log or "RecallAt1 >= 100%" in log
    folder = nights.hub.artifact(SECOND, f"comparison-{PYTHON}")
    gates = json.loads((folder / "comparison.json").read_text())["gates"]
    assert [gate["passed"] for gate in gates if gate["rule"] == "RecallAt1 >= 100%"] == [False]
    assert (folder / "html" / "index.html").exists()
    assert (folder / "junit.xml").read_text().count("<failure") == 1


def test_an_engine_that_no_test_drives_may_fail_and_the_night_is_green_all_the_same(nights: Nights) -> None:
    assert f"comparison-{JAVASCRIPT}" in nights.hub.names(FIRST)
    assert not [name for name in nights.hub.names(FIRST) if "rust-analyzer" in name]
    assert "rust-rust-analyzer-basic (may fail) |  |  |  |  | 🔴 ended before it was compared" in nights.logs[FIRST]


# ------------------------------------------------------------------------------------- called by another repository

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
CALLING = f"""
on: workflow_dispatch
jobs:
  defaults:
    permissions: {{contents: read, actions: read}}
    uses: OWNER/ci-eval/.github/workflows/evaluate.yml@COMMIT
  kept:
    needs: defaults
    uses: OWNER/ci-eval/.github/workflows/compare.yml@COMMIT
    with: {{evaluation: {PYTHON}, base-run-id: "{FIRST}", gates: RecallAt1 >= -1pp}}
  poisoned:
    uses: OWNER/ci-eval/.github/workflows/compare.yml@COMMIT
    with: {{evaluation: {JAVASCRIPT}, base-run-id: "{POISONED}", new-run-id: "{FIRST}"}}
  learn:
    uses: OWNER/ci-eval/.github/workflows/generate-ml-logs.yml@COMMIT
    with: {{configs: configs/python.yaml, projects: "{" ".join(PROJECTS)}"}}
  built:
    permissions: {{contents: read, actions: read}}
    uses: OWNER/ci-eval/.github/workflows/evaluate.yml@COMMIT
    with:
      configs: ci/built.yaml
      shards: 2
      build: make server
      build-output: build/server
      setup: echo "set up for $GITHUB_JOB" > setup.txt
      set: interpret.client=editor
  make:
    runs-on: ubuntu-latest
    steps:
      - uses: {CHECKOUT}
      - run: cp server.py sub/server && chmod +x sub/server && tar -C sub -cf engine.tar server
      - uses: {UPLOAD}
        with: {{name: made-elsewhere, path: engine.tar}}
  monorepo:
    needs: make
    uses: OWNER/ci-eval/.github/workflows/evaluate.yml@COMMIT
    with:
      configs: ci/*.yaml
      working-directory: sub
      engine-artifact: made-elsewhere
      setup: touch setup-was-here
    secrets:
      registries: CACHE=CACHE
"""
SERVER = "#!/usr/bin/env python3\n" + (ROOT / "tests" / "adapters" / "lsp" / "server.py").read_text()
MAKEFILE = "server:\n\tmkdir -p build\n\tcp server.py build/server\n\tchmod +x build/server\n"


def prepare_callers(hub: GitHub) -> None:
    """Give the other repository an engine, a second project, and a folder with a project of its own."""
    repository = hub.repository(THEIRS)
    write(repository / "other", **{f"file{i}__py": GREETER + f"y{i} = {i}\nprint(y{i})\n" for i in range(4)})
    (repository / "Makefile").write_text(MAKEFILE)
    (repository / "server.py").write_text(SERVER)
    config = {"language": "python", "project": "path:project", "engine": {"command": ["./build/server", "--stdio"]}}
    write(repository / "ci", built__yaml=yaml.safe_dump(config))
    config = {"language": "python", "project": "path:code", "engine": {"command": ["./server", "--stdio"]}}
    write(repository / "sub" / "ci", mine__yaml=yaml.safe_dump(config))
    write(
        repository / "sub" / "code",
        **{f"file{i}__py": f"{GREETER}x{i} = {i}\nprint(x{i})\n" for i in range(4)},
    )


def poison(hub: GitHub) -> None:
    """Store a workspace of the first night under another run, with a byte more in one of its sessions."""
    folder = shutil.copytree(hub.artifact(FIRST, f"workspace-{JAVASCRIPT}"), hub.folder / "poisoned")
    file = next((folder / "sessions").iterdir())
    file.write_bytes(file.read_bytes() + b"\0")
    stored = hub.zip(POISONED, f"workspace-{JAVASCRIPT}")
    stored.parent.mkdir(parents=True)
    with zipfile.ZipFile(stored, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))


def test_evaluate_does_with_its_defaults_what_a_night_does(nights: Nights) -> None:
    names = {name for name in nights.hub.names(CALLED) if PYTHON in name}
    assert f"workspace-{PYTHON}" in names
    one, two = (nights.figures(run, PYTHON)["metrics"]["RecallAt1"] for run in (CALLED, FIRST))
    assert one == two


def test_a_kept_gate_is_a_good_run(nights: Nights) -> None:
    report = nights.read(CALLED, f"comparison-{PYTHON}", "comparison.json")
    assert [gate["passed"] for gate in report["gates"]] == [True]
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"
    assert f"good-{PYTHON}" in nights.hub.names(CALLED)
    base = nights.read(FIRST, f"workspace-{PYTHON}", "manifest.json")
    assert report["sides"]["base"]["started"] == base["start"]


def test_a_poisoned_artifact_is_refused(nights: Nights) -> None:
    log = nights.logs[CALLED]
    assert "is not what was evaluated" in log
    assert not [name for name in nights.hub.names(CALLED) if JAVASCRIPT in name]
    # It is what makes the run red, alone.
    assert set(re.findall(r"\[([^]]*?)\s*\].*Job failed", log)) == {f"poisoned/compare/compare {JAVASCRIPT}"}


def test_a_ranker_is_trained_on_several_projects(nights: Nights) -> None:
    names = {name for name in nights.hub.names(CALLED) if name.startswith(("ranker-", "logs-"))}
    assert names == {"ranker-python", *(f"logs-python-{limits.name(project)}" for project in PROJECTS)}
    trained = nights.read(CALLED, "ranker-python", "model.json")["trainedOn"]
    assert sorted(trained) == ["engine/other", "project"]


def test_the_documented_workflow_logs_and_trains_a_ranker_of_its_own_name(hub: GitHub) -> None:
    config = {"language": "python", "engine": "words", "project": PROJECT, "trainingProjects": ["path:project"]}
    write(hub.repository(THEIRS) / "ci", completion__yaml=yaml.safe_dump(config))
    hub.call(THEIRS, "completion-logs", documented("An ML pipeline that pulls the latest logs"))
    code, log = hub.run("completion-logs", LOGS, event="schedule", repository=THEIRS)
    assert code == 0, log
    assert hub.names(LOGS) == {"ranker-completion", f"logs-completion-{limits.name('path:project')}"}


def test_an_engine_is_built_once_and_used_by_two_shards(nights: Nights) -> None:
    names = nights.hub.names(CALLED)
    assert {"engine", "workspace-built-server-basic"} <= names
    assert len([name for name in names if name.startswith("shard-built-")]) == 2
    assert nights.logs[CALLED].count("mkdir -p build") == 1


def test_a_folder_is_evaluated_with_an_engine_that_another_job_made(nights: Nights) -> None:
    assert "workspace-mine-server-basic" in nights.hub.names(CALLED)
    manifest = (nights.hub.artifact(CALLED, "workspace-mine-server-basic") / "manifest.json").read_text()
    assert '"path:code' in manifest
    # Where the secret's variable says.
    assert (nights.hub.folder / "another-cache").is_dir()


# ------------------------------------------------------------------------------------------------- a second attempt


def test_a_re_run_of_what_failed_takes_the_shards_that_passed(hub: GitHub) -> None:
    inputs: dict[str, Any] = {
        "configs": "configs/javascript.yaml",
        "shards": "2",
        "compare": "true",
        "first_night": "true",
        # One of the two shards makes the folder, the other one fails; the second attempt passes.
        "setup": f'[ "$GITHUB_RUN_ATTEMPT" = 2 ] || mkdir {hub.folder / "made-by-the-first"}',
    }
    code, log = hub.run("evaluate", RERUN, **inputs)
    assert code != 0
    (passed,) = (name for name in hub.names(RERUN) if name.startswith("shard-"))
    failed = 3 - int(passed.removeprefix(f"shard-{JAVASCRIPT}-")[0])
    code, log = again(hub, "evaluate", RERUN, log, "evaluate", f"shard:{failed}/2", **inputs)
    assert code == 0, log
    second = {path.stem for path in (hub.services.artifacts / str(RERUN) / "2").iterdir()}
    compared = {f"{kind}-{JAVASCRIPT}" for kind in ("workspace", "comparison", "history", "good")}
    assert second == {f"shard-{JAVASCRIPT}-{failed}-of-2", *compared}
    figures = evaluation(hub.artifact(RERUN, f"workspace-{JAVASCRIPT}"))["filters"]["ALL"]
    assert figures["sessions"] == figures["planned"] > 0
