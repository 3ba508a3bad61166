"""The workflows executed: evaluate, compare, a night after a night; with artifacts, gates, and a poisoned one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ci.stand_ins import GitHub, github
from tests.projects import GREETER, write

pytestmark = [pytest.mark.engine, pytest.mark.registry]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> GitHub:
    """Two languages' worth of configurations, with the words and jedi engines."""
    folder = tmp_path_factory.mktemp("github")
    files = {f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(4)}
    scripts = {f"file{i}__js": f"const first{i} = 1;\nconsole.log(first{i}, first{i});\n" for i in range(4)}
    project = write(folder / "p", **files, **scripts)
    configs: dict[str, dict[str, object]] = {
        "python": {"language": "python", "engine": "jedi", "project": "path:project"},
        "javascript": {"language": "javascript", "engine": "words", "project": "path:project"},
    }
    return github(folder, configs, project)


@pytest.fixture(scope="module")
def evaluated(hub: GitHub) -> GitHub:
    """Run 1 and run 2 of evaluate, the second one in the alphabet's order under the same name."""
    code, log = hub.run("evaluate", 1, configs="configs/*.yaml", shards="2")
    assert code == 0, log
    code, log = hub.run("evaluate", 2, configs="configs/python.yaml", shards="2", set="interpret.client=editor")
    assert code == 0, log
    return hub


def test_evaluate_uploads_its_shards_and_one_workspace_per_evaluation(evaluated: GitHub) -> None:
    names = {path.name for path in (evaluated.artifacts / "1").iterdir()}
    assert {"workspace-python-jedi-basic", "workspace-javascript-words-basic"} <= names
    assert len([name for name in names if name.startswith("shard-")]) == 4
    for name in ("workspace-python-jedi-basic", "workspace-javascript-words-basic"):
        metrics = json.loads((evaluated.artifacts / "1" / name / "reports" / "metrics.json").read_text())
        (evaluation,) = metrics["evaluations"]
        figures = evaluation["filters"]["ALL"]
        assert figures["sessions"] == figures["planned"] > 0
        manifest = json.loads((evaluated.artifacts / "1" / name / "manifest.json").read_text())
        assert (manifest["shard"], len(manifest["digests"])) == (None, 5)


def compared(hub: GitHub, run_id: int, base: int, gates: str) -> tuple[int, str]:
    return hub.run(
        "compare", run_id, evaluation="python-jedi-basic", base_run_id=str(base), new_run_id="2", gates=gates
    )


def test_a_kept_gate_is_a_good_run(evaluated: GitHub) -> None:
    code, log = compared(evaluated, 3, 1, "RecallAt1 >= -1pp")
    assert code == 0, log
    report = json.loads((evaluated.artifacts / "3" / "comparison-python-jedi-basic" / "comparison.json").read_text())
    assert report["gates"][0]["passed"]
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"


def test_a_broken_gate_fails_the_run_and_its_reports_are_published(evaluated: GitHub) -> None:
    code, log = compared(evaluated, 4, 1, "RecallAt1 >= 101%")
    assert code != 0
    assert "RecallAt1 &gt;= 101%" in log or "RecallAt1 >= 101%" in log
    folder = evaluated.artifacts / "4" / "comparison-python-jedi-basic"
    assert not json.loads((folder / "comparison.json").read_text())["gates"][0]["passed"]
    assert (folder / "html" / "index.html").exists()
    assert (folder / "junit.xml").read_text().count("<failure") == 1


def test_a_poisoned_artifact_is_refused(evaluated: GitHub) -> None:
    sessions = evaluated.artifacts / "1" / "workspace-python-jedi-basic" / "sessions"
    file = next(sessions.iterdir())
    data = file.read_bytes()
    file.write_bytes(data + b"\0")
    try:
        code, log = compared(evaluated, 5, 1, "")
    finally:
        file.write_bytes(data)
    assert code != 0
    assert "is not what was evaluated" in log
    assert not (evaluated.artifacts / "5").exists()


def test_the_second_night_is_compared_with_the_first_and_has_a_ranker(evaluated: GitHub) -> None:
    code, log = evaluated.run("generate-ml-logs", 10, projects='["path:project"]', config="configs/python.yaml")
    assert code == 0, log
    assert json.loads((evaluated.artifacts / "10" / "ranker" / "model.json").read_text())["trainedOn"] == ["project"]
    for night in (11, 12):
        code, log = evaluated.run("nightly", night)
        assert code == 0, log
        (evaluated.artifacts / "last-good-nightly").write_text(str(night))
        (evaluated.artifacts / "last-good-generate-ml-logs").write_text("10")
        there = {path.name for path in (evaluated.artifacts / str(night)).iterdir()}
        for evaluation in ("python-jedi-basic", "javascript-words-basic"):
            assert {f"workspace-{evaluation}", f"comparison-{evaluation}", f"history-{evaluation}"} <= there
        assert ("workspace-python-jedi-ml" in there) == (night == 12)
    first, second = (
        evaluated.artifacts / night / "comparison-python-jedi-basic" / name
        for night, name in (("11", "overview.json"), ("12", "comparison.json"))
    )
    assert len(json.loads(first.read_text())["trend"]["nights"]) == 1
    report = json.loads(second.read_text())
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "equivalent"
    assert len(report["trend"]["nights"]) == 2
    assert len(list((evaluated.artifacts / "12" / "history-python-jedi-basic").iterdir())) == 2


def test_an_artifact_name_is_used_once_in_a_run(evaluated: GitHub) -> None:
    assert evaluated.run("evaluate", 21, configs="configs/javascript.yaml")[0] == 0
    code, log = evaluated.run("evaluate", 21, configs="configs/javascript.yaml")
    assert code != 0
    assert "409" in log


def test_the_stand_ins_know_the_inputs_that_the_workflows_use(hub: GitHub) -> None:
    used = {path.name for path in (hub.folder / "actions").iterdir()}
    assert used >= {"checkout", "cache", "setup-python", "upload-artifact", "download-artifact"}
    assert (Path(hub.folder) / "repository" / ".git").is_dir()
