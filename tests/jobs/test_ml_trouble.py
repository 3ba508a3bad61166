"""Logs, models and users that are damaged, doubled, empty or of another kind: refused, with a reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ci_eval.ci import Screen
from ci_eval.core import logs as logs_support
from ci_eval.core.config import load, patch
from ci_eval.core.manifest import Manifest
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.evaluate import only_logs
from ci_eval.jobs.ml import fit, for_logs, summing_to_one
from ci_eval.jobs.runs import RunOptions
from tests.logged import lines, run
from tests.needs import need_modules
from tests.projects import GREETER, write

need_modules("lightgbm", "pyarrow")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("file_in_one_process")]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small ones, as Parquet."""
    folder = tmp_path_factory.mktemp("trouble")
    project = write(folder / "p", **{f"file{i:02}__py": lines(i) for i in range(8)})
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", folder / "logs")
    code, _, err = run(*command)
    assert code == 0, err
    return folder / "logs"


@pytest.fixture(scope="module")
def model(logs: Path) -> Path:
    path = logs.parent / "model.json"
    code, _, err = run("train-ranker", logs, "--output", path, "--jobs", 1)
    assert code == 0, err
    return path


def refused(command: tuple[object, ...], said: str, exit_code: int = 2) -> None:
    code, out, err = run(*command)
    assert code == exit_code, out + err
    assert said in " ".join(err.split()), err


# --------------------------------------------------------------------------------------------------------------- logs


def cut(logs: Path) -> None:
    path = logs / "train.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def garble(logs: Path) -> None:
    (logs / "manifest.json").write_text("[]")


DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (cut, "train.parquet has changed since it was logged"),
    (lambda logs: (logs / "validation.parquet").unlink(), "validation.parquet has changed since it was logged"),
    (lambda logs: (logs / "manifest.json").unlink(), "has no manifest.json"),
    (garble, "is not a manifest of logs"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGE, ids=["cut", "missing", "without account", "broken account"])
@pytest.mark.parametrize("command", ["train-ranker", "fit-user-model"])
def test_damaged_logs_are_refused(
    command: str, damage: Callable[[Path], None], said: str, logs: Path, tmp_path: Path
) -> None:
    bare = Path(shutil.copytree(logs / "logs", tmp_path / "bare"))
    damage(bare)
    more = ("--output", tmp_path / "m.json") if command == "train-ranker" else ()
    refused((command, bare, *more), said)


@pytest.mark.parametrize("command", ["train-ranker", "fit-user-model"])
def test_the_same_logs_given_twice_are_refused(command: str, logs: Path, tmp_path: Path) -> None:
    more = ("--output", tmp_path / "m.json") if command == "train-ranker" else ()
    copy = shutil.copytree(logs, tmp_path / "copy")
    refused((command, logs, copy, *more), "hold the same logs")
    refused((command, logs / "logs", copy, *more), "hold the same logs")


def test_shards_and_their_merge_count_once_and_another_engine_is_another_run(logs: Path, tmp_path: Path) -> None:
    project = logs.parent / "p"
    given = ("generate-ml-logs", "--project", f"path:{project}")
    shards = [tmp_path / "s1", tmp_path / "s2"]
    for index, shard in enumerate(shards, 1):
        code, _, err = run(*given, "--engine", "words", "--shard", f"{index}/2", "--output", shard)
        assert code == 0, err
    to = ("--output", tmp_path / "m.json", "--jobs", 1)
    # "log the same run", or "hold the same logs" where a shard has all that is for validation.
    refused(("train-ranker", *shards, logs, *to), "once")
    refused(("train-ranker", logs, shards[0], *to), "once")
    assert run("train-ranker", *shards, *to)[0] == 0
    code, _, err = run(*given, "--engine", "oracle", "--output", tmp_path / "oracle")
    assert code == 0, err
    code, _, err = run("train-ranker", logs, tmp_path / "oracle", *to)
    assert code == 0, err


def test_what_is_not_there_and_what_has_another_format_are_told_apart(logs: Path, tmp_path: Path) -> None:
    to = ("--output", tmp_path / "m.json")
    refused(("train-ranker", tmp_path / "nowhere", *to), "nowhere does not exist")
    project = write(tmp_path / "p", file__py=GREETER)
    given = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--log-format", "jsonl")
    assert run(*given, "--output", tmp_path / "lines")[0] == 0
    refused(("train-ranker", tmp_path / "lines", *to), "as jsonl alone: write them with --log-format parquet")


def test_an_empty_side_is_named(tmp_path: Path) -> None:
    project = write(tmp_path / "p", file__py=lines(1))
    given = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "one")
    assert run(*given)[0] == 0
    command = ("train-ranker", tmp_path / "one", "--output", tmp_path / "m.json")
    refused(command, "side of the logs is empty: `interpret.trainTestSplit`", exit_code=3)


def test_an_output_that_cannot_be_written_is_refused_before_the_training(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(("train-ranker", logs, "--output", tmp_path), "is a folder")
    refused(("train-ranker", logs, "--output", tmp_path / "file" / "m.json"), "choose another --output")


# -------------------------------------------------------------------------------------------------------------- models


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: {"booster": found["booster"][:-500]}, "its trees changed"),
        (lambda found: {"booster": ""}, "its trees changed"),
        (lambda _: {"format": 2}, "has format 2"),
    ],
    ids=["cut", "empty", "format"],
)
def test_a_damaged_model_is_refused_before_anything_runs(
    change: Callable[[dict[str, str]], dict[str, object]], said: str, model: Path, tmp_path: Path
) -> None:
    found = json.loads(model.read_text())
    (tmp_path / "m.json").write_text(json.dumps(found | change(found)))
    project = write(tmp_path / "p", file__py=GREETER)
    given = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    refused((*given, "--completion-type", "ML", "--model", tmp_path / "m.json"), said)
    assert not (tmp_path / "o").exists()


def test_a_model_that_would_not_be_used_is_refused(model: Path, tmp_path: Path) -> None:
    project = write(tmp_path / "p", file__py=GREETER)
    given = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    refused((*given, "--model", model), "a model is for completion type ML or PBN, not BASIC")


# --------------------------------------------------------------------------------------------------------------- users


def test_a_fitted_user_is_one_that_a_configuration_takes(logs: Path, tmp_path: Path) -> None:
    text = "\n".join(fit([logs], Screen()))
    written = yaml.safe_load(text)["interpret"]["userModel"]["firstPrefix"]
    assert abs(sum(written) - 1) < 1e-9
    (tmp_path / "user.yaml").write_text(text)
    user = load(tmp_path / "user.yaml").config.interpret.user_model
    assert user is not None
    assert user.first_prefix == tuple(written)


@pytest.mark.parametrize("shares", [[1 / 3] * 3, [1 / 7] * 7, [0.07692, 0.73244, 0.19064], [1.0]])
def test_shares_that_are_rounded_still_sum_to_one(shares: list[float]) -> None:
    written = summing_to_one(shares)
    assert abs(sum(written) - 1) < 1e-9
    assert written == pytest.approx(shares, abs=4e-4)
    assert all(len(f"{share:.10f}".rstrip("0")) <= 6 for share in written)


def test_a_prefix_that_a_user_does_not_type_is_said(tmp_path: Path) -> None:
    project = write(tmp_path / "p", file__py=GREETER)
    given = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run(*given, "--set", "actions.strategy.prefix={name: Ladder, lengths: [0, 1]}")
    assert code == 0
    assert "`actions.strategy.prefix` Ladder has no effect" in " ".join(err.split())


def test_parquet_can_be_asked_for_twice() -> None:
    """A lazily imported module must not take the place of the function that imports it."""
    assert logs_support.tables() is logs_support.tables()


@pytest.mark.parametrize("said", [False, True])
def test_logs_are_whole_if_the_run_was_killed_while_it_put_them_together(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bool
) -> None:
    wanted = patch(load(None).config, project=f"path:{logs.parent / 'p'}", engine="words")
    config = for_logs(wanted, ["parquet"], Screen())

    def generate(*, resume: bool) -> None:
        only_logs(config, RunOptions(output=tmp_path / "o", jobs=1, resume=resume, screen=Screen()), None)

    write_manifest = Workspace.write_manifest

    def is_killed(workspace: Workspace, manifest: Manifest) -> None:
        if manifest.logs is None or said:
            write_manifest(workspace, manifest)
        if manifest.logs is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(Workspace, "write_manifest", is_killed)
    with pytest.raises(KeyboardInterrupt):
        generate(resume=False)
    monkeypatch.undo()
    generate(resume=True)
    record, whole = logs_support.read_logs_record(tmp_path / "o" / "logs"), logs_support.read_logs_record(logs / "logs")
    assert record
    assert whole
    logs_support.verify(tmp_path / "o" / "logs", record)
    assert (record.train, record.validation) == (whole.train, whole.validation)
    assert not (tmp_path / "o" / "logs" / "parts").exists()
