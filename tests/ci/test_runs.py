"""The workflows executed: evaluate, compare, nights, a pull request and its comment, hostile artifacts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm", "make")]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    """Two languages' worth of configurations, with the engine words, which starts fast."""
    folder = tmp_path_factory.mktemp("github")
    files = {f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(4)}
    scripts = {f"file{i}__js": f"const first{i} = 1;\nconsole.log(first{i}, first{i});\n" for i in range(4)}
    project = write(folder / "p", **files, **scripts)
    configs: dict[str, dict[str, object]] = {
        "python": {"language": "python", "engine": "words", "project": "path:project"},
        "javascript": {"language": "javascript", "engine": "words", "project": "path:project"},
    }
    callers = {
        "change": documented("My own engine, built in this repository, on every pull request"),
    }
    with github(folder, configs, project, callers) as served:
        yield served


@pytest.fixture(scope="module")
def evaluated(hub: GitHub) -> GitHub:
    """Run 1 and run 2 of evaluate, the second one with its default client by name."""
    code, log = hub.run("evaluate", 1, configs="configs/*.yaml", shards="2")
    assert code == 0, log
    code, log = hub.run("evaluate", 2, configs="configs/python.yaml", shards="2", set="interpret.client=editor")
    assert code == 0, log
    return hub


def test_evaluate_uploads_its_shards_and_one_workspace_per_evaluation(evaluated: GitHub) -> None:
    names = evaluated.names(1)
    assert {"workspace-python-words-basic", "workspace-javascript-words-basic"} <= names
    assert len([name for name in names if name.startswith("shard-")]) == 4
    for name in ("workspace-python-words-basic", "workspace-javascript-words-basic"):
        workspace = evaluated.artifact(1, name)
        (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
        figures = evaluation["filters"]["ALL"]
        assert figures["sessions"] == figures["planned"] > 0
        manifest = json.loads((workspace / "manifest.json").read_text())
        assert (manifest["shard"], len(manifest["digests"])) == (None, 7)


def evaluation(folder: Path) -> dict[str, Any]:
    """Of a workspace's reports."""
    (found,) = json.loads((folder / "reports" / "metrics.json").read_text())["evaluations"]
    return found  # type: ignore[no-any-return]


def test_evaluate_does_with_its_defaults_what_it_does_with_two_shards(evaluated: GitHub) -> None:
    code, log = evaluated.run("evaluate", 6)
    assert code == 0, log
    assert evaluated.names(6) == {"shard-python-words-basic-1-of-1", "workspace-python-words-basic"}
    one, two = (evaluation(evaluated.artifact(run, "workspace-python-words-basic")) for run in (6, 1))
    assert one["filters"]["ALL"]["metrics"]["RecallAt1"] == two["filters"]["ALL"]["metrics"]["RecallAt1"]


def test_a_further_attempt_of_a_run_takes_its_own_shards(hub: GitHub) -> None:
    for attempt in (1, 2):
        code, log = hub.run("evaluate", 22, attempt=attempt, configs="configs/javascript.yaml", shards="2")
        assert code == 0, log
    name = "workspace-javascript-words-basic"
    first, second = sorted(hub.services.artifacts.glob(f"22/**/{name}.zip"))
    assert first != second
    assert evaluation(hub.artifact(22, name))["filters"]["ALL"]["sessions"] > 0


def test_a_re_run_of_what_failed_takes_the_shards_that_passed(hub: GitHub) -> None:
    given: dict[str, Any] = {
        "configs": "configs/javascript.yaml",
        "shards": "2",
        # One of the two shards makes the folder, the other one fails; the second attempt passes.
        "setup": f'[ "$GITHUB_RUN_ATTEMPT" = 2 ] || mkdir {hub.folder / "made-by-the-first"}',
    }
    code, log = hub.run("evaluate", 23, **given)
    assert code != 0
    (passed,) = (name for name in hub.names(23) if name.startswith("shard-"))
    failed = 3 - int(passed.removeprefix("shard-javascript-words-basic-")[0])
    code, log = again(hub, "evaluate", 23, log, "evaluate", f"shard:{failed}/2", **given)
    assert code == 0, log
    second = {path.stem for path in (hub.services.artifacts / "23" / "2").iterdir()}
    assert second == {f"shard-javascript-words-basic-{failed}-of-2", "workspace-javascript-words-basic"}
    figures = evaluation(hub.artifact(23, "workspace-javascript-words-basic"))["filters"]["ALL"]
    assert figures["sessions"] == figures["planned"] > 0


@pytest.mark.parametrize(("run", "projects"), [(7, ["path:project"]), (8, ["path:project", "path:other"])])
def test_a_ranker_is_trained_on_one_project_and_on_several(hub: GitHub, run: int, projects: list[str]) -> None:
    write(hub.repository(OURS) / "other", **{f"file{i}__py": GREETER + f"y{i} = {i}\nprint(y{i})\n" for i in range(4)})
    hub.commit(OURS)
    code, log = hub.run("generate-ml-logs", run, projects=" ".join(projects), configs="configs/python.yaml")
    assert code == 0, log
    assert hub.names(run) == {"ranker-python", *(f"logs-python-{limits.name(each)}" for each in projects)}
    trained = json.loads((hub.artifact(run, "ranker-python") / "model.json").read_text())["trainedOn"]
    assert sorted(trained) == sorted(each.removeprefix("path:") for each in projects)


SERVER = "#!/usr/bin/env python3\n" + (ROOT / "tests" / "adapters" / "lsp" / "server.py").read_text()
MAKEFILE = "server:\n\tmkdir -p build\n\tcp server.py build/server\n\tchmod +x build/server\n"


def test_an_engine_of_the_repository_is_built_and_compared_as_the_documentation_says(hub: GitHub) -> None:
    repository = hub.repository(THEIRS)

    (repository / "ci").mkdir(exist_ok=True)
    config = {"language": "python", "project": "path:project"}
    (repository / "ci" / "completion.yaml").write_text(yaml.safe_dump(config))
    (repository / "Makefile").write_text(MAKEFILE)
    (repository / "server.py").write_text(SERVER)
    base = hub.commit(THEIRS)
    subprocess.run(["git", "checkout", "-q", "-b", "forgetful"], cwd=repository, check=True)
    (repository / "server.py").write_text(SERVER.replace(r"\w+", r"\w{7,}"))
    head = hub.commit(THEIRS)
    pull = {"number": 3, "base": {"sha": base, "ref": "main"}, "head": {"sha": head, "ref": "forgetful"}}
    code, log = hub.run("change", 33, event="pull_request", repository=THEIRS, payload={"pull_request": pull})
    subprocess.run(["git", "checkout", "-q", "main"], cwd=repository, check=True)
    assert code == 0, log
    report = json.loads((hub.artifact(33, "comparison") / "comparison.json").read_text())
    assert report["base"].startswith("server-base ")
    assert report["new"].startswith("server-new ")
    assert report["filters"]["ALL"]["metrics"]["Recall"]["difference"] < 0


def compared(hub: GitHub, run_id: int, base: int, gates: str) -> tuple[int, str]:
    return hub.run(
        "compare", run_id, evaluation="python-words-basic", base_run_id=str(base), new_run_id="2", gates=gates
    )


def test_a_kept_gate_is_a_good_run(evaluated: GitHub) -> None:
    code, log = compared(evaluated, 3, 1, "RecallAt1 >= -1pp")
    assert code == 0, log
    report = json.loads((evaluated.artifact(3, "comparison-python-words-basic") / "comparison.json").read_text())
    assert report["gates"][0]["passed"]
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"


def test_a_broken_gate_fails_the_run_and_its_reports_are_published(evaluated: GitHub) -> None:
    code, log = compared(evaluated, 4, 1, "RecallAt1 >= 100%")
    assert code != 0
    assert "RecallAt1 &gt;= 100%" in log or "RecallAt1 >= 100%" in log
    folder = evaluated.artifact(4, "comparison-python-words-basic")
    assert not json.loads((folder / "comparison.json").read_text())["gates"][0]["passed"]
    assert (folder / "html" / "index.html").exists()
    assert (folder / "junit.xml").read_text().count("<failure") == 1


def test_a_poisoned_artifact_is_refused(evaluated: GitHub) -> None:
    folder = shutil.copytree(evaluated.artifact(1, "workspace-python-words-basic"), evaluated.folder / "poisoned")
    file = next((folder / "sessions").iterdir())
    file.write_bytes(file.read_bytes() + b"\0")
    stored = evaluated.zip(40, "workspace-python-words-basic")
    stored.parent.mkdir(parents=True)
    with zipfile.ZipFile(stored, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    code, log = compared(evaluated, 5, 40, "")
    assert code != 0
    assert "is not what was evaluated" in log
    assert not evaluated.names(5)


@dataclass(frozen=True)
class Nights:
    """Four of them: without a ranker; with one; asked anew, and one evaluation breaks a gate; with an engine that may
    fail. The last two have no ranker either."""

    hub: GitHub
    codes: dict[int, int] = field(default_factory=dict)
    logs: dict[int, str] = field(default_factory=dict)

    def run(self, number: int, **inputs: Any) -> None:
        """One more."""
        self.hub.commit(OURS)
        caches = self.hub.folder / "nights"
        self.codes[number], self.logs[number] = self.hub.run("nightly", number, caches=caches, **inputs)

    def read(self, night: int, name: str, file: str) -> dict[str, Any]:
        """A file of an artifact."""
        return dict(json.loads((self.hub.artifact(night, name) / file).read_text()))


def four_nights(hub: GitHub) -> Nights:
    hub.services.forget_runs()
    code, log = hub.run("generate-ml-logs", 10, projects="path:project", configs="configs/python.yaml")
    assert code == 0, log
    configs, nights = hub.repository(OURS) / "configs", Nights(hub)
    # Those of other tests, too, whichever came before.
    rankers = {f"{run}/ranker-python" for run in range(100)}
    hub.services.expired |= rankers
    nights.run(41)
    hub.services.expired.clear()
    nights.run(42)
    hub.services.expired |= rankers
    usual = (configs / "javascript.yaml").read_text()
    gated = {**yaml.safe_load(usual), "comparison": {"gates": ["RecallAt1 >= 100%"]}}
    (configs / "javascript.yaml").write_text(yaml.safe_dump(gated))
    nights.run(43, fresh="true")
    (configs / "javascript.yaml").write_text(usual)
    (configs / "unverified").mkdir()
    # No source of it is in the project, so that no shard leaves a workspace.
    unverified = {"language": "php", "engine": "phpactor", "project": "path:project"}
    (configs / "unverified" / "php.yaml").write_text(yaml.safe_dump(unverified))
    nights.run(44)
    shutil.rmtree(configs / "unverified")
    hub.commit(OURS)
    return nights


@pytest.mark.slow(minutes=5)
def test_four_nights(hub: GitHub) -> None:
    """One test, since another process that took over a part of several would need four nights of its own."""
    nights = four_nights(hub)
    told = "\n".join(f"night {number}: {code}\n{nights.logs[number]}" for number, code in nights.codes.items())
    assert [code != 0 for code in nights.codes.values()] == [False, False, True, False], told
    the_second_one_is_compared_with_the_first_and_has_a_ranker(nights)
    it_takes_over_what_its_shards_were_answered_the_night_before(nights)
    a_red_evaluation_takes_neither_base_nor_gates_from_its_siblings(nights)
    an_engine_that_no_test_drives_may_fail_and_the_night_is_green_all_the_same(nights)


def the_second_one_is_compared_with_the_first_and_has_a_ranker(nights: Nights) -> None:
    assert nights.read(10, "ranker-python", "model.json")["trainedOn"] == ["project"]
    for night in (41, 42):
        for name in ("python-words-basic", "javascript-words-basic"):
            wanted = {f"{kind}-{name}" for kind in ("workspace", "comparison", "history", "good")}
            assert wanted <= nights.hub.names(night)
        assert ("workspace-python-words-ml" in nights.hub.names(night)) == (night == 42)
    first = nights.read(41, "comparison-python-words-basic", "overview.json")
    second = nights.read(42, "comparison-python-words-basic", "comparison.json")
    assert len(first["trend"]["nights"]) == 1
    assert second["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"
    assert len(second["trend"]["nights"]) == 2
    assert len(list(nights.hub.artifact(42, "history-python-words-basic").iterdir())) == 2


def it_takes_over_what_its_shards_were_answered_the_night_before(nights: Nights) -> None:
    name = "workspace-javascript-words-basic"
    first, second, anew = (nights.read(night, name, "manifest.json") for night in (41, 42, 43))
    assert [each.get("reused", 0) for each in (first, anew)] == [0, 0]
    assert 0 < second["reused"] < second["finished"]
    figures = [evaluation(nights.hub.artifact(night, name))["filters"]["ALL"]["metrics"] for night in (41, 42)]
    assert figures[0]["RecallAt1"] == figures[1]["RecallAt1"]


def a_red_evaluation_takes_neither_base_nor_gates_from_its_siblings(nights: Nights) -> None:
    assert "good-python-words-basic" in nights.hub.names(43)
    assert "good-javascript-words-basic" not in nights.hub.names(43)
    for name, base in (("python-words-basic", 43), ("javascript-words-basic", 42)):
        found = nights.read(44, f"comparison-{name}", "comparison.json")
        first = nights.read(base, f"workspace-{name}", "manifest.json")
        assert found["sides"]["base"]["started"] == first["start"]
        assert len(found["trend"]["nights"]) == 4
        assert found["gates"]


def an_engine_that_no_test_drives_may_fail_and_the_night_is_green_all_the_same(nights: Nights) -> None:
    assert "comparison-javascript-words-basic" in nights.hub.names(44)
    assert not [name for name in nights.hub.names(44) if "phpactor" in name]
    assert "php-phpactor-basic (may fail) |  |  |  |  | 🔴 ended before it was compared" in nights.logs[44]


def test_an_artifact_name_is_used_once_in_a_run(evaluated: GitHub) -> None:
    assert evaluated.run("evaluate", 21, configs="configs/javascript.yaml")[0] == 0
    code, log = evaluated.run("evaluate", 21, configs="configs/javascript.yaml")
    assert code != 0
    assert "409" in log


BUILT = """
jobs:
  figures:
    permissions: {contents: read, actions: read}
    uses: OWNER/ci-eval/.github/workflows/evaluate.yml@COMMIT
    with:
      configs: ci/built.yaml
      shards: 2
      build: make server
      build-output: build/server
      setup: echo "set up for $GITHUB_JOB" > setup.txt
"""


def test_an_engine_is_built_once_and_used_by_two_shards(hub: GitHub) -> None:
    repository = hub.repository(THEIRS)
    (repository / "ci").mkdir(exist_ok=True)
    config = {"language": "python", "project": "path:project", "engine": {"command": ["./build/server", "--stdio"]}}
    (repository / "ci" / "built.yaml").write_text(yaml.safe_dump(config))
    (repository / "Makefile").write_text(MAKEFILE)
    (repository / "server.py").write_text(SERVER)
    hub.call(THEIRS, "built", "on: workflow_dispatch" + BUILT)
    code, log = hub.run("built", 34, repository=THEIRS)
    assert code == 0, log
    assert "engine" in hub.names(34)
    assert len([name for name in hub.names(34) if name.startswith("shard-")]) == 2
    assert log.count("mkdir -p build") == 1


# -------------------------------------------------------------------------------- a pull request, and its comment


@pytest.fixture(scope="module")
def pulled(hub: GitHub) -> tuple[GitHub, str]:
    """Pull request 7, evaluated by run 50, and its head."""
    repository, base = hub.repository(OURS), hub.commit(OURS)
    subprocess.run(["git", "checkout", "-q", "-b", "change"], cwd=repository, check=True)
    config = repository / "configs" / "python.yaml"
    config.write_text(config.read_text().replace("path:project", "path:new/project"))
    head = hub.commit(OURS)
    payload = {
        "number": 7,
        "pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head, "ref": "change"}},
    }
    code, log = hub.run("pull-request", 50, event="pull_request", payload=payload)
    subprocess.run(["git", "checkout", "-q", "main"], cwd=repository, check=True)
    assert code == 0, log
    return hub, head


def commented(hub: GitHub, run_id: int, of: int, head: str) -> tuple[int, str]:
    about = {"id": of, "event": "pull_request", "head_sha": head}
    return hub.run("comment", run_id, event="workflow_run", payload={"workflow_run": about})


def test_a_pull_request_has_one_artifact_with_the_comparison_and_its_number(pulled: tuple[GitHub, str]) -> None:
    hub, _ = pulled
    assert hub.names(50) == {"comparison"}
    assert (hub.artifact(50, "comparison") / "number.txt").read_text() == "7\n"
    assert "RecallAt1" in (hub.artifact(50, "comparison") / "report.md").read_text()


def test_one_comment_is_posted_and_kept_up_to_date(pulled: tuple[GitHub, str]) -> None:
    hub, head = pulled
    hub.services.heads[7] = head
    hub.services.comments.clear()
    for run_id in (51, 52):
        code, log = commented(hub, run_id, 50, head)
        assert code == 0, log
        ((_, comment),) = hub.services.comments.items()
        assert comment["issue"] == 7
        assert comment["body"].startswith("<!-- ci-eval -->\n")
        assert "RecallAt1" in comment["body"]
        hub.services.comments[1]["body"] = "<!-- ci-eval -->\nolder"


def test_nothing_is_posted_about_a_commit_the_pull_request_has_left(pulled: tuple[GitHub, str]) -> None:
    hub, head = pulled
    hub.services.heads[7] = "0" * 40
    hub.services.comments.clear()
    code, log = commented(hub, 53, 50, head)
    assert code == 0, log
    assert "nothing is posted" in log
    assert not hub.services.comments


def test_a_run_that_failed_before_it_compared_is_not_commented(pulled: tuple[GitHub, str]) -> None:
    hub, head = pulled
    hub.services.comments.clear()
    code, log = commented(hub, 54, 49, head)
    assert code == 0, log
    assert "Artifact not found for name: comparison" in log
    assert not hub.services.comments


@pytest.mark.parametrize("number", ["8/../../x", "-1", "7; rm", " "])
def test_a_hostile_number_is_refused(pulled: tuple[GitHub, str], number: str) -> None:
    hub, head = pulled
    hub.services.comments.clear()
    run = 60 + len(number)
    stored = hub.zip(run, "comparison")
    stored.parent.mkdir(parents=True)
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("number.txt", number)
        archive.writestr("report.md", "text")
    code, log = commented(hub, run + 20, run, head)
    assert code != 0
    assert "number.txt holds no number" in log
    assert not hub.services.comments


def test_hostile_text_mentions_nobody_and_hides_nothing(pulled: tuple[GitHub, str]) -> None:
    hub, head = pulled
    hub.services.heads[7] = head
    hub.services.comments.clear()
    stored = hub.zip(70, "comparison")
    stored.parent.mkdir(parents=True)
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("number.txt", "7")
        archive.writestr("report.md", "@everyone <!-- hidden --> " + "x" * 100_000)
    code, log = commented(hub, 71, 70, head)
    assert code == 0, log
    body = hub.services.comments[1]["body"]
    assert len(body) <= 65_536
    assert not re.search(r"@\w", body)
    assert body.count("<!--") == 1
