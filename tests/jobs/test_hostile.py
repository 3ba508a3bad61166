"""Workspaces that somebody made who means harm: nothing of them runs, and nothing outside them is touched."""

from __future__ import annotations

import io
import os
import pickle
import resource
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import yaml
from msgspec.structs import replace

from ci_eval.core.base import stored
from ci_eval.core.workspace import Workspace
from tests.bombs import packed_zeros
from tests.command import command
from tests.jobs.hostile import sessions_of
from tests.packed import repack, unpacked
from tests.projects import write


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's."""
    return write(tmp_path / "outside", html__index__html="mine", a__json="{}", precious="mine")


def rewrite(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the lines of one file of sessions, and seal it as if nothing had happened."""
    path = sessions_of(folder)
    repack(path, change(unpacked(path).splitlines()))
    Workspace(folder).seal()


@pytest.mark.parametrize("part", ["reports", "sessions", "actions", "errors", "logs"])
def test_a_linked_part_is_refused_and_what_it_leads_to_stays(hostile: Path, outside: Path, part: str) -> None:
    shutil.rmtree(hostile / part)
    (hostile / part).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    code, _, err = command("report", hostile)
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)
    assert before == {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "names.npz", "reports/html/index.html", "logs/x"])
def test_a_linked_file_is_refused(hostile: Path, name: str) -> None:
    original = hostile.parent / "original"
    original.write_bytes((hostile / name).read_bytes() if (hostile / name).exists() else b"")
    (hostile / name).unlink(missing_ok=True)
    (hostile / name).symlink_to(original)
    code, _, err = command("report", hostile)
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)


def test_the_workspace_itself_may_be_a_link(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(hostile)
    assert command("report", tmp_path / "latest")[0] == 0


@pytest.mark.parametrize("name", ["sessions/x.jsonl.zst", "actions/x.json.zst", "errors/x.json", "logs/x", "names.npz"])
def test_a_pipe_is_refused_and_not_waited_for(hostile: Path, name: str) -> None:
    (hostile / name).unlink(missing_ok=True)
    os.mkfifo(hostile / name)
    code, _, err = command("report", hostile)
    assert (code, "neither a file nor a folder" in " ".join(err.split())) == (2, True)


def test_a_linked_or_piped_file_of_a_history_is_refused(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "past").mkdir()
    (tmp_path / "past" / "one.json").symlink_to(hostile / "reports" / "metrics.json")
    code, _, err = command("compare", hostile, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert (code, "is a symbolic link" in " ".join(err.split())) == (2, True)


def test_figures_are_kept_in_the_history_whatever_time_they_name(hostile: Path, tmp_path: Path) -> None:
    path = hostile / "reports" / "metrics.json"
    report = msgspec.json.decode(path.read_bytes())
    report["evaluations"][0]["started"] = "../../../escaped"
    path.write_bytes(msgspec.json.encode(report))
    assert command("compare", hostile, "--history", tmp_path / "a/b/past", "--output", tmp_path / "out")[0] == 0
    assert not list(tmp_path.rglob("escaped*"))
    assert len(list((tmp_path / "a/b/past").iterdir())) == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../../p/a.py", "a\0.py"])
def test_the_path_of_a_source_file_leads_nowhere_else(hostile: Path, path: str) -> None:
    actions = sorted((hostile / "actions").iterdir())[0]
    said = msgspec.json.decode(unpacked(actions))
    repack(actions, [msgspec.json.encode(said | {"path": path})])
    Workspace(hostile).seal()
    code, _, err = command("interpret", hostile, "--engine", "words", "--output", hostile.parent / "new")
    assert (code, "is not the path of a file inside" in " ".join(err.split())) == (2, True)


def test_the_logs_name_no_file_outside_their_folder(hostile: Path, night: Path, tmp_path: Path) -> None:
    project = f"path:{night.parent / 'p'}"
    argv = ("--project", project, "--engine", "words", "--log-format", "jsonl", "--jobs", 1, "--output", tmp_path / "l")
    assert command("generate-ml-logs", *argv)[0] == 0
    workspace = Workspace(tmp_path / "l")
    manifest = workspace.manifest()
    assert manifest.logs
    logs = replace(manifest.logs, files=(replace(manifest.logs.files[0], path="../../../escaped/a.gz"),))
    workspace.write_manifest(replace(manifest, logs=logs, shard="1/1"))
    workspace.seal()
    code, _, err = command("merge", tmp_path / "l", "--output", tmp_path / "merged")
    assert (code, "is not the path of a file inside" in " ".join(err.split())) == (2, True)
    assert not list(tmp_path.rglob("*escaped*"))


def test_the_variables_of_the_job_are_not_for_a_workspace(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hush")
    config = hostile / "config.yaml"
    config.write_text(
        yaml.safe_dump(yaml.safe_load(config.read_text()) | {"reports": {"evaluationTitle": "${SECRET}"}})
    )
    Workspace(hostile).seal()
    code, out, err = command("evaluate", "--resume", "--output", hostile)
    assert (code, "hush" in out + err) == (2, False)


def test_a_bomb_of_sessions_is_refused(hostile: Path, tmp_path: Path) -> None:
    path = sessions_of(hostile)
    head = unpacked(path).splitlines()[0]
    for every, said in ((80_000_000, "times its size"), (100, "is damaged")):
        path.write_bytes(stored.pack([head + b"\n"]) + packed_zeros(80, every=every))
        Workspace(hostile).seal()
        code, _, err = command("compare", hostile, hostile, "--output", tmp_path / str(every))
        assert (code, said in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("errors/a.json", "more than 16,000,000 bytes"),
        ("config.yaml", "at most 200,000 bytes"),
        ("manifest.json", "more than 16,000,000 bytes"),
    ],
)
def test_a_file_larger_than_any_of_its_kind_is_refused(hostile: Path, name: str, said: str) -> None:
    with (hostile / name).open("ab") as file:
        file.truncate(20_000_000)
    if name != "manifest.json":
        Workspace(hostile).seal()
    code, _, err = command("report", hostile)
    assert (code, said in " ".join(err.split())) == (2, True), err


def test_a_configuration_of_aliases_of_aliases_is_refused(hostile: Path) -> None:
    lists = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lists += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (hostile / "config.yaml").write_text("\n".join(lists))
    Workspace(hostile).seal()
    code, _, err = command("report", hostile)
    assert (code, "expand to more than" in " ".join(err.split())) == (2, True)


def header_claims(rows: int) -> bytes:
    """Of an array of numbers that is said to have so many of them."""
    stream = io.BytesIO()
    header: Any = np.lib.format  # without types before numpy 2.3
    header.write_array_header_1_0(stream, {"descr": "<u8", "fortran_order": False, "shape": (rows,)})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "how"),
    [
        (b"", zipfile.ZIP_STORED),
        (header_claims(10**14), zipfile.ZIP_STORED),
        (header_claims(8 * 10**6) + bytes(64 * 10**6), zipfile.ZIP_DEFLATED),
        (pickle.dumps([1]), zipfile.ZIP_STORED),
    ],
    ids=["empty", "claims", "packed", "pickle"],
)
def test_bad_names_are_refused(hostile: Path, tmp_path: Path, content: bytes, how: int) -> None:
    with zipfile.ZipFile(hostile / "names.npz", "w", how) as archive:
        for table in ("times", "files", "pairs"):
            for part in ("keys", "counts"):
                archive.writestr(f"{table}_{part}.npy", content)
    Workspace(hostile).seal()
    code, _, err = command("rerank", hostile, "--completion-type", "FREQUENCY", "--output", tmp_path / "out")
    assert (code, "names.npz is damaged" in " ".join(err.split())) == (2, True), err


def session(**changes: object) -> Callable[[list[bytes]], list[bytes]]:
    """The first session with other values."""

    def change(lines: list[bytes]) -> list[bytes]:
        changed = msgspec.json.decode(lines[1]) | changes
        return [lines[0], msgspec.json.encode(changed), *lines[2:]]

    return change


LOOKUP = {"prefix": "", "total": 1, "rank": 1, "latency": 1.0, "suggestions": [{"text": "x"}]}


IMPOSSIBLE: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "rank 0": session(lookups=[LOOKUP | {"rank": 0}]),
    "rank 5 of 1": session(lookups=[LOOKUP | {"rank": 5}]),
    "negative latency": session(lookups=[LOOKUP | {"latency": -1}]),
    "huge offset": session(offset=10**300),
    "empty text": session(expectedText=""),
    "of another file": session(file="z.py"),
    "deep": lambda lines: [lines[0], b'{"x":' + b"[" * 100_000],
    "not UTF-8": lambda lines: [lines[0], lines[1].replace(b'"id":"', b'"id":"\xff')],
    "twice": lambda lines: [*lines, lines[1]],
    "no source": lambda lines: lines[1:],
    "nothing": lambda _: [],
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
@pytest.mark.parametrize("task", ["report", "compare", "merge", "rerank"])
def test_impossible_sessions_are_refused(
    hostile: Path, night: Path, tmp_path: Path, task: str, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    rewrite(hostile, change)
    code, _, err = command(*TASKS[task](hostile, night, tmp_path))
    assert (code, sessions_of(hostile).name in "".join(err.split())) == (2, True), err


def test_the_same_file_stored_under_three_names_counts_once(hostile: Path) -> None:
    path = sessions_of(hostile)
    shutil.copyfile(path, path.with_name(f"again-{path.name}"))
    Workspace(hostile).seal()
    code, _, err = command("report", hostile)
    assert (code, "belong into another file" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    "change",
    [
        {"planned": -5},
        {"planned": 1},
        {"finished": 10**30},
        {"start": "yesterday"},
        {"start": "2024-01-01T00:00:00"},
        {"jobs": -1},
        {"unparsable": 7.0},
        {"seed": 2**70},
    ],
    ids=str,
)
def test_an_impossible_account_is_refused(
    hostile: Path, night: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    manifest = hostile / "manifest.json"
    manifest.write_bytes(msgspec.json.encode(msgspec.json.decode(manifest.read_bytes()) | change))
    code, _, err = command(*TASKS["merge"](hostile, night, tmp_path))
    assert (code, "manifest.json is damaged" in " ".join(err.split())) == (2, True)


TASKS: dict[str, Callable[[Path, Path, Path], tuple[object, ...]]] = {
    "report": lambda hostile, *_: ("report", hostile),
    "compare": lambda hostile, night, out: ("compare", night, hostile, "--output", out / "compared"),
    "merge": lambda hostile, night, out: ("merge", renamed(night, out), hostile, "--output", out / "merged"),
    "rerank": lambda hostile, _, out: (
        "rerank", hostile, "--completion-type", "FREQUENCY", "--output", out / "reranked",
    ),
    "show": lambda hostile, *_: ("show", hostile, "0"),
    "expect": lambda hostile, *_: ("expect", hostile),
    "train-ranker": lambda hostile, _, out: ("train-ranker", hostile, "--output", out / "model"),
    "fit-user-model": lambda hostile, *_: ("fit-user-model", hostile),
}  # fmt: skip


def renamed(night: Path, out: Path) -> Path:
    """As of another project, since a project is merged with others."""
    if (out / "other").exists():
        return out / "other"
    workspace = Workspace(Path(shutil.copytree(night, out / "other")))
    manifest = workspace.manifest()
    workspace.write_manifest(replace(manifest, project=replace(manifest.project, name="other", checksum="1" * 64)))
    workspace.seal()
    return workspace.folder


@pytest.mark.parametrize("most", [0, 300, 3_000, 30_000])
@pytest.mark.parametrize("task", ["report", "compare", "merge", "rerank"])
def test_a_full_disk_is_said_to_be_one(hostile: Path, night: Path, tmp_path: Path, task: str, most: int) -> None:
    argv = TASKS[task](hostile, night, tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        code, _, err = command(*argv)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == (2 if most < 30_000 else code), err
    assert code in {0, 2}, err
