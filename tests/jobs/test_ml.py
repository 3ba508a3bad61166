"""A ranker trained on logs, the loop closed, and users modelled on them, as users run it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.workspace import Workspace
from ci_eval.plugins.learning.rankers import lightgbm
from tests.logged import run, sessions_of
from tests.needs import need_module, need_modules
from tests.orders import check_turns

need_module("lightgbm")

# A command line after the other: logs, training, evaluation, together more than a minute.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


@pytest.fixture(scope="module")
def model(logs: Path) -> Path:
    path = logs.parent / "model.json"
    code, out, err = run("train-ranker", logs, "--output", path, "--jobs", 1)
    assert code == 0, err
    assert "by the model" in out
    assert "expected suggestion" in out
    return path


@pytest.fixture(scope="module")
def plain(project: Path) -> Path:
    folder = project.parent / "plain"
    one = "actions.strategy.prefix={name: SimplePrefix, n: 1}"
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--set", one, "--output", folder)
    code, _, err = run(*command)
    assert code == 0, err
    return folder


def test_a_trained_ranker_says_what_it_was_made_of(model: Path) -> None:
    found = json.loads(model.read_text())
    assert found["trainedOn"] == ["p"]
    assert found["after"]["top1"] > found["before"]["top1"]
    assert sum(found["importance"].values()) == pytest.approx(1)
    assert list(found["importance"].values()) == sorted(found["importance"].values(), reverse=True)


def test_a_ranker_compared_in_turns_has_the_verdicts_of_rerank(model: Path, project: Path, tmp_path: Path) -> None:
    assert check_turns(project, tmp_path, "ML", model) & {"better", "worse"}


def test_a_folder_of_logs_trains_the_ranker_that_they_train(model: Path, logs: Path, tmp_path: Path) -> None:
    shutil.copytree(logs, tmp_path / "logs" / "logs-0")
    code, _, err = run("train-ranker", tmp_path / "logs", "--output", tmp_path / "again.json", "--jobs", 1)
    assert code == 0, err
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()


def test_training_twice_gives_the_same_model(model: Path, logs: Path, tmp_path: Path) -> None:
    assert run("train-ranker", logs, "--output", tmp_path / "again.json", "--jobs", 1)[0] == 0
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()


def test_the_loop_closes_and_rerank_says_the_same_without_the_engine(plain: Path, model: Path, tmp_path: Path) -> None:
    asked, moved = tmp_path / "asked", tmp_path / "moved"
    chosen = ("--completion-type", "ML", "--model", model)
    assert run("interpret", plain, *chosen, "--output", asked)[0] == 0
    assert run("report", asked)[0] == 0
    code, _, err = run("rerank", plain, *chosen, "--output", moved)
    assert code == 0, err
    ranks = [
        {session.id: [lookup.rank for lookup in session.lookups] for session in sessions_of(folder)}
        for folder in (asked, moved)
    ]
    assert ranks[0] == ranks[1]
    assert run("compare", plain, moved, "--output", tmp_path / "out", "--gate", "RecallAt1 >= 0pp")[0] == 0
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert report["filters"]["ALL"]["metrics"]["RecallAt1"]["verdict"] == "better"
    assert report["filters"]["ALL"]["metrics"]["Recall"]["difference"] == 0
    assert report["sides"]["new"]["completionType"] == "ML"
    digests = {Workspace.open(folder).manifest().model for folder in (asked, moved)}
    assert digests == {hashlib.sha256(model.read_bytes()).hexdigest()}


def test_a_stored_order_can_be_taken_back(plain: Path, tmp_path: Path) -> None:
    assert run("rerank", plain, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "a")[0] == 0
    assert run("rerank", tmp_path / "a", "--completion-type", "BASIC", "--output", tmp_path / "b")[0] == 0
    stored = [
        {session.id: [[each.text for each in lookup.suggestions] for lookup in session.lookups] for session in sessions}
        for sessions in (sessions_of(plain), sessions_of(tmp_path / "b"))
    ]
    assert stored[0] == stored[1]


def test_frequency_is_a_completion_type(plain: Path, tmp_path: Path) -> None:
    code, out, err = run("rerank", plain, "--completion-type", "FREQUENCY", "--output", tmp_path / "f")
    assert code == 0, err
    assert "FREQUENCY" in out


def test_ml_without_a_model_or_with_another_schema_is_refused(plain: Path, model: Path, tmp_path: Path) -> None:
    code, _, err = run("rerank", plain, "--completion-type", "ML", "--output", tmp_path / "o")
    assert (code, "--model FILE" in err) == (2, True)
    found = json.loads(model.read_text())
    (tmp_path / "old.json").write_text(json.dumps(found | {"schema": "0" * 16}))
    old = ("--completion-type", "ML", "--model", tmp_path / "old.json")
    code, _, err = run("rerank", plain, *old, "--output", tmp_path / "o")
    assert (code, "trained on other features" in " ".join(err.split())) == (2, True)
    (tmp_path / "broken.json").write_text("{}")
    code, _, err = run("evaluate", *old[:3], tmp_path / "broken.json", "--engine", "words", "--project", "path:.")
    assert (code, "is not a model" in err) == (2, True)


def test_shards_ranked_by_one_model_are_merged_wherever_it_lay(model: Path, project: Path, tmp_path: Path) -> None:
    shards = []
    for index in (1, 2):
        place = tmp_path / f"machine{index}" / "model.json"
        place.parent.mkdir()
        place.write_bytes(model.read_bytes())
        shards.append(tmp_path / f"s{index}")
        command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", shards[-1])
        code, _, err = run(*command, "--completion-type", "ML", "--model", place, "--shard", f"{index}/2")
        assert code == 0, err
    code, _, err = run("merge", *shards, "--output", tmp_path / "all")
    assert code == 0, err


def test_logs_of_a_modelled_user_cannot_be_reranked(logs: Path, tmp_path: Path) -> None:
    code, _, err = run("rerank", logs, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "o")
    assert (code, "whose choices depend on the order" in " ".join(err.split())) == (2, True)


def test_training_needs_logs(plain: Path, tmp_path: Path) -> None:
    code, _, err = run("train-ranker", plain, "--output", tmp_path / "m.json")
    assert (code, "generate-ml-logs" in err) == (2, True)


def test_a_user_is_fitted_to_logs_and_can_be_used(logs: Path, project: Path, tmp_path: Path) -> None:
    code, out, err = run("fit-user-model", logs)
    assert code == 0, err
    config = tmp_path / "config.yaml"
    config.write_text(out)
    command = ("evaluate", config, "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run(*command, "--set", "interpret.sessionsLimit=50")
    assert code == 0, err
    user = Workspace.open(tmp_path / "o").config_path.read_text()
    assert "firstPrefix" in user


def test_what_a_user_would_do_on_average_is_computed_and_an_evaluation_agrees(project: Path, tmp_path: Path) -> None:
    every = "actions.strategy.prefix={name: EveryPrefix}"
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output")
    assert run(*command, tmp_path / "every", "--set", every)[0] == 0
    code, out, err = run("expect", tmp_path / "every", "--user-model", "jetbrains")
    assert code == 0, err
    selected = next(line.split()[1] for line in out.splitlines() if line.startswith("Selected"))
    assert run(*command, tmp_path / "drawn", "--set", "interpret.userModel=jetbrains")[0] == 0
    sessions = sessions_of(tmp_path / "drawn")
    share = sum(course.share for session in sessions for course in session.courses if course.taken) / len(sessions)
    assert selected == f"{share:.1%}"


def test_expectations_need_every_prefix(plain: Path, logs: Path) -> None:
    for folder in (plain, logs):
        code, _, err = run("expect", folder)
        assert (code, "EveryPrefix" in err) == (2, True)


def test_two_users_are_not_comparable(logs: Path, project: Path, tmp_path: Path) -> None:
    command = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    assert run(*command, "--set", "interpret.userModel=first")[0] == 0
    code, _, err = run("compare", logs, tmp_path / "o", "--output", tmp_path / "out")
    assert (code, "the user model is" in " ".join(err.split())) == (2, True)


def test_the_same_user_meets_two_engines(project: Path, tmp_path: Path) -> None:
    """What does not depend on the answers is the same: where the first query is made."""
    first = []
    for engine in ("words", "oracle"):
        command = ("evaluate", "--project", f"path:{project}", "--engine", engine, "--output", tmp_path / engine)
        assert run(*command, "--set", "interpret.userModel=thesis", "--set", "interpret.sessionsLimit=100")[0] == 0
        first.append({session.id: session.typed for session in sessions_of(tmp_path / engine)})
    assert first[0] == first[1]


def test_a_model_of_little_says_how_little_it_knows(logs: Path, tmp_path: Path) -> None:
    code, _, err = run("train-ranker", logs, "--output", tmp_path / "m.json", "--set", "trees=3")
    said = " ".join(err.split())
    assert code == 0, err
    assert "validation lookups: each share may be off by" in said
    assert "the ranker was trained on p alone: evaluate it on another project" in said
    assert json.loads((tmp_path / "m.json").read_text())["trees"] <= 3


@pytest.mark.parametrize(
    ("setting", "said"), [("tree=3", "known are trees, leaves, features"), ("trees", "expected key=value")]
)
def test_a_wrong_setting_is_refused_before_training(setting: str, said: str, logs: Path, tmp_path: Path) -> None:
    code, _, err = run("train-ranker", logs, "--output", tmp_path / "m.json", "--set", setting)
    assert (code, said in " ".join(err.split())) == (2, True)


def test_an_exported_model_ranks_real_logs_as_the_ranker_does(model: Path, logs: Path, tmp_path: Path) -> None:
    runtime, pandas, _ = need_modules("onnxruntime", "pandas", "onnxmltools")
    for to in ("lightgbm", "onnx"):
        code, _, err = run("export-ranker", model, "--to", to, "--output", tmp_path / to)
        assert code == 0, err
    features = json.loads(model.read_text())["features"]
    rows = pandas.read_parquet(logs / "logs" / "validation.parquet")[features].to_numpy(dtype=np.float32)
    wanted = lightgbm().Booster(model_str=json.loads(model.read_text())["booster"]).predict(rows)
    plain = lightgbm().Booster(model_file=tmp_path / "lightgbm").predict(rows)
    (converted,) = runtime.InferenceSession(tmp_path / "onnx").run(None, {"features": rows})
    assert (plain == wanted).all()
    np.testing.assert_allclose(converted.ravel(), wanted, atol=1e-4)
    code, _, err = run("export-ranker", model, "--to", "onnx", "--output", tmp_path / "onnx")
    assert (code, "exists already" in err) == (2, True)


@pytest.mark.parametrize("to", ["lightgbm", "onnx"])
def test_an_exported_model_that_is_imported_again_ranks_as_before(
    to: str, model: Path, plain: Path, tmp_path: Path
) -> None:
    need_modules("onnxruntime", "onnxmltools")
    for argv in (
        ("export-ranker", model, "--to", to, "--output", tmp_path / "file"),
        ("import-ranker", tmp_path / "file", "--output", tmp_path / "again.json"),
        ("rerank", plain, "--completion-type", "ML", "--model", model, "--output", tmp_path / "before"),
        (
            "rerank",
            plain,
            "--completion-type",
            "ML",
            "--model",
            tmp_path / "again.json",
            "--output",
            tmp_path / "after",
        ),
    ):
        code, _, err = run(*argv)
        assert code == 0, err
    before, after = (
        json.loads((tmp_path / side / "reports" / "metrics.json").read_text()) for side in ("before", "after")
    )
    figures = [each["evaluations"][0]["filters"]["ALL"]["metrics"]["RecallAt1"]["value"] for each in (before, after)]
    assert figures[0] == pytest.approx(figures[1])
    code, _, err = run("export-ranker", tmp_path / "again.json", "--to", "lightgbm", "--output", tmp_path / "out")
    assert (code == 0) is (to == "lightgbm")
    if to == "onnx":
        assert "cannot be turned into LightGBM" in " ".join(err.split())
