"""What is on disk, and what is said when it is not what it should be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.interpret.assignments import first_calls
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import FileActions, FileError, MoveCaret, Session
from ci_eval.core.model.settings import ActionsConfig, PrefixConfig, StrategyConfig
from ci_eval.core.workspace import (
    ENCODED_AT_ONCE,
    Workspace,
    iterate_actions,
    make_file_name,
    pack_actions,
    read_actions,
    read_head,
    read_items,
)
from ci_eval.plugins.engines.controls import WORDS
from tests.command import command
from tests.comparing import compare
from tests.projects import GREETER, ask, generate, setup, write


def counting(function: Callable[[Manifest], None], asked: list[str]) -> Callable[[Manifest], None]:
    """Return the function, but it also adds the title of each manifest to `asked`."""

    def counted(manifest: Manifest) -> None:
        asked.append(manifest.title)
        function(manifest)

    return counted


@pytest.mark.parametrize("path", ["../../etc/passwd", "a/" * 200 + "b.py", "CON.py", "ü\n\0.py", ".hidden"])
def test_a_name_is_safe_whatever_the_path(path: str) -> None:
    name = make_file_name(path)
    assert len(name) < 100
    assert not name.startswith(".")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def test_paths_that_look_alike_have_names_of_their_own() -> None:
    assert len({make_file_name(path).casefold() for path in ("a/b.py", "a_b.py", "A/B.py", "a b.py")}) == 4


def test_a_folder_without_manifest_is_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="not a workspace"):
        Workspace.open(tmp_path)


def test_a_truncated_sessions_file_is_named(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    ask(workspace := generate(root, tmp_path / "w"), setup(WORDS, root))
    (path,) = (tmp_path / "w" / "sessions").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(WorkspaceError, match="is damaged"):
        [list(items) for _, items in workspace.sessions(Session)]


def test_errors_of_two_stages_are_both_kept(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "w")
    for stage in ("interpret", "actions"):
        workspace.write_error(FileError(path="a.py", stage=stage, message="no"))
    assert [error.stage for error in workspace.errors()] == ["actions", "interpret"]


def test_what_a_killed_run_left_half_written_goes_and_no_link_is_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", kept__txt="x")
    workspace = generate(write(tmp_path / "p", a__py="import os\nos.sep\n"), tmp_path / "w")
    pages = write(workspace.folder / "reports" / "html.1.tmp", index__html="x", style__css_2_tmp="x")
    (workspace.folder / "sessions" / "a.json.zst.1.tmp").write_bytes(b"x")
    (pages / "linked.3.tmp").symlink_to(outside)
    (workspace.folder / "linked.4.tmp").symlink_to(outside)
    workspace.tidy()
    assert not list(workspace.folder.rglob("*.tmp*"))
    assert (outside / "kept.txt").exists()


def test_nothing_temporary_is_left(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    ask(generate(root, tmp_path / "w"), setup(WORDS, root))
    assert not list((tmp_path / "w").rglob("*.tmp"))


def test_actions_of_a_large_file_are_decoded_in_parts(tmp_path: Path) -> None:
    moves = tuple(MoveCaret(offset=offset) for offset in range(2 * ENCODED_AT_ONCE + 1))
    whole = FileActions(path='"actions":[.py', checksum="1", sessions=0, unparsable=0.0, actions=moves)
    (path := tmp_path / "a.json.zst").write_bytes(packed := pack_actions(whole))
    assert (read_head(path).checksum, [*iterate_actions(path)], read_actions(path)) == ("1", [*moves], whole)
    lines = [*stored.lines(path)]
    for wrong in (lines[:-1], [*lines, lines[-1]], lines[1:], [lines[0], *lines]):
        path.write_bytes(stored.pack(wrong))
        with pytest.raises(WorkspaceError, match="damaged"):
            read_actions(path)
    path.write_bytes(stored.pack([b"".join(lines).replace(b"\n", b"")]))
    assert read_actions(path) == whole
    assert len(packed) < 100_000


def test_a_finished_run_of_many_files_is_a_few_files_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FEWEST_ARCHIVED", 3)
    root = write(tmp_path / "p", **{f"f{number}__py": GREETER for number in range(5)})
    ask(workspace := generate(root, tmp_path / "w"), setup(WORDS, root))
    now = {each.id: source.path for source, items in workspace.sessions(Session) for each in items}
    items = [[*read_items(path)] for path in workspace.action_files()]
    for part in ("actions", "sessions"):
        stored.archive(tmp_path / "w" / part)
        assert [path.name for path in (tmp_path / "w" / part).iterdir()] == ["all.zip"]
    workspace = Workspace(tmp_path / "w")
    assert {each.id: source.path for source, items in workspace.sessions(Session) for each in items} == now
    assert [[*read_items(path)] for path in workspace.action_files()] == items
    assert workspace.find_session(next(iter(now)))[0].path == now[next(iter(now))]
    workspace.drop_sessions("f2.py")
    assert not workspace.has_sessions("f2.py")
    assert workspace.has_sessions("f1.py")
    ask(workspace, setup(WORDS, root))
    assert {each.id: source.path for source, items in workspace.sessions(Session) for each in items} == now
    workspace.clear("actions")
    assert not workspace.action_files()


def test_shards_and_what_follows_read_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write(tmp_path / "p", **{f"f{number}__py": GREETER for number in range(6)})

    def evaluate(name: str, *more: object) -> None:
        argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / name, *more)
        assert command(*argv)[0] == 0

    evaluate("loose")
    monkeypatch.setattr(stored, "FEWEST_ARCHIVED", 2)
    for number in (1, 2):
        evaluate(f"shard {number}", "--shard", f"{number}/2")
    assert command("merge", tmp_path / "shard 1", tmp_path / "shard 2", "--output", tmp_path / "merged")[0] == 0
    assert [path.name for path in (tmp_path / "merged" / "sessions").iterdir()] == ["all.zip"]
    code, _, said = command("compare", tmp_path / "loose", tmp_path / "merged", "--output", tmp_path / "compared")
    assert code == 0, said
    ids = [
        sorted(session.id for _, sessions in Workspace.open(tmp_path / name).sessions(Session) for session in sessions)
        for name in ("loose", "merged")
    ]
    assert ids[0] == ids[1]
    assert command("show", tmp_path / "merged", ids[0][0])[0] == 0
    evaluate("night", "--reuse", tmp_path / "loose")
    evaluate("next", "--reuse", tmp_path / "night")
    assert Workspace.open(tmp_path / "next").manifest().reused
    ranked = ("rerank", tmp_path / "merged", "--completion-type", "ALPHABETICAL", "--output", tmp_path / "ranked")
    assert command(*ranked)[0] == 0
    assert command("report", tmp_path / "night")[0] == 0


@pytest.mark.parametrize("left", [{}, {"config__yaml": "x"}, {"config__yaml": "x", "manifest__json__77__tmp": "{"}])
def test_what_a_run_leaves_that_was_killed_at_once_is_begun_again(tmp_path: Path, left: dict[str, str]) -> None:
    folder = Workspace.create(tmp_path / "w").folder
    Workspace.create(write(folder, **left))


@pytest.mark.parametrize("name", ["config__yaml", "sessions/a", "sessions", "notes"])
def test_what_may_be_the_users_is_not_written_over(tmp_path: Path, name: str) -> None:
    write(tmp_path / "w", **{name: "mine"})
    with pytest.raises(WorkspaceError, match="is not empty"):
        Workspace.create(tmp_path / "w")


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.slow
def test_a_manifest_is_read_once_however_often_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    argv = ("evaluate", "--project", f"path:{root}", "--engine", "words", "--jobs", 1, "--output")
    for name in ("base", "new"):
        command(*argv, tmp_path / name, "--set", f"reports.evaluationTitle={name}")
    read: list[str] = []
    monkeypatch.setattr(Manifest, "check", counting(Manifest.check, read))
    command("compare", tmp_path / "base", tmp_path / "new", "--output", tmp_path / "c")
    assert sorted(read) == ["base", "new"]
    assert command(*argv, tmp_path / "third")[0] == 0
    assert len(read) == 2


@pytest.mark.parametrize("part", ["sessions", "actions", "logs", "names.npz"])
def test_a_poisoned_artifact_is_refused(nights: dict[str, Path], tmp_path: Path, part: str) -> None:
    new = Path(shutil.copytree(nights["words"], tmp_path / "new"))
    target = next((new / part).glob("*"), new / part / "more") if part != "names.npz" else new / part
    target.write_bytes((target.read_bytes() if target.exists() else b"") + b"x")
    code, _, said = compare(nights["words"], new, tmp_path / "out")
    assert (code, f"{part} changed since" in " ".join(said.split())) == (2, True)


def test_an_artifact_without_digests_is_refused(nights: dict[str, Path], tmp_path: Path) -> None:
    workspace = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "new")))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), digests={}))
    code, _, said = compare(nights["words"], tmp_path / "new", tmp_path / "out")
    assert (code, "its manifest has no digests" in " ".join(said.split())) == (2, True)


def test_what_actions_ask_about_is_the_first_call_of_each_session(tmp_path: Path) -> None:
    typed = ActionsConfig(strategy=StrategyConfig(prefix=PrefixConfig(name="EveryPrefix")))
    workspace = generate(write(tmp_path / "p", a__py=GREETER), tmp_path / "w", typed)
    (path,) = workspace.action_files()
    calls = list(first_calls(iterate_actions(path)))
    items = [(each.session, each.offset, each.expected_text) for each in read_items(path)]
    assert items == [(call.session, call.offset, call.expected_text) for call in calls]
    assert read_actions(path).sessions == len(items) > 0
