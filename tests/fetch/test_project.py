"""Projects: what a spec becomes, and that it becomes that once."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import zipfile
from pathlib import Path

import pytest

from ci_eval.core.base.errors import (
    ArchiveError,
    ChecksumError,
    ConfigError,
    DownloadError,
    InstallError,
    PreparationError,
)
from ci_eval.fetch import packages, sealed
from ci_eval.fetch.project import checksum, prepare
from tests.fetch.repository import create
from tests.loopback import answers, sends, serve

DIGEST = "0123456789abcdef" * 4


def archive(path: Path, *names: str) -> Path:
    """A zip whose files hold their own names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as bundle:
        for name in names:
            bundle.writestr(zipfile.ZipInfo(name), name)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A pip that makes a wheel of its own; the requirements it was asked for."""
    asked: list[str] = []

    def download(requirement: str, folder: Path) -> Path:
        asked.append(requirement)
        return archive(folder / "six-1.16.0-py3-none-any.whl", "six.py", "six-1.16.0.dist-info/METADATA")

    monkeypatch.setattr(packages, "pip_download", download)
    return asked


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        packages, "npm_pack", lambda spec, folder: archive(folder / "x.tgz", "package/index.js", "package/lib/a.js")
    )


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("META-INF/MANIFEST.MF", "org/a/B.java")
    monkeypatch.setattr(packages, "artifact", lambda spec, folder: archive(folder / "b-1.0-sources.jar", *names))


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("example.org/a/m@v1.0.0/a.go", "example.org/a/m@v1.0.0/sub/b.go")
    monkeypatch.setattr(packages, "module_zip", lambda spec, folder: archive(folder / "module.zip", *names))


def test_a_wheel_is_unpacked_and_pinned_to_its_digest(pip: list[str], tmp_path: Path) -> None:
    project = prepare("pypi:six==1.16.0", cache=tmp_path)
    made = archive(tmp_path / "same.whl", "six.py", "six-1.16.0.dist-info/METADATA")
    assert (project.root / "six.py").read_text() == "six.py"
    assert (project.info.name, project.info.revision) == ("six", "1.16.0")
    assert project.info.spec == f"pypi:six==1.16.0#sha256={sha256(made)}"


def test_the_root_of_an_npm_package_is_its_package_folder(npm: None, tmp_path: Path) -> None:
    project = prepare("npm:is-number@7.0.0", cache=tmp_path)
    assert (project.root / "lib/a.js").is_file()
    assert (project.info.name, project.info.revision) == ("is-number", "7.0.0")


def test_the_root_of_a_go_module_is_the_module_however_deep_it_is_in_the_zip(go: None, tmp_path: Path) -> None:
    project = prepare("go:example.org/a/m@v1.0.0", cache=tmp_path)
    assert sorted(path.name for path in project.root.iterdir()) == ["a.go", "sub"]
    assert (project.info.name, project.info.revision) == ("example.org/a/m", "v1.0.0")


def test_a_zip_of_another_module_is_an_archive_error(go: None, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"has no folder example\.org/a/m@v1\.0\.1"):
        prepare("go:example.org/a/m@v1.0.1", cache=tmp_path)
    assert list((tmp_path / "projects").iterdir()) == []


def test_a_sources_jar_is_unpacked_as_it_is(maven: None, tmp_path: Path) -> None:
    project = prepare("maven:org.a:b:1.0", cache=tmp_path)
    assert sorted(path.name for path in project.root.iterdir()) == ["META-INF", "org"]
    assert (project.info.name, project.info.revision) == ("b", "1.0")


@pytest.mark.usefixtures("pip", "npm", "maven", "go")
@pytest.mark.parametrize(
    "spec", ["pypi:six==1.16.0", "npm:is-number@7.0.0", "maven:org.a:b:1.0", "go:example.org/a/m@v1.0.0"]
)
def test_a_pin_that_does_not_fit_is_a_checksum_error(spec: str, tmp_path: Path) -> None:
    with pytest.raises(ChecksumError, match=DIGEST):
        prepare(f"{spec}#sha256={DIGEST}", cache=tmp_path)
    assert list((tmp_path / "projects").iterdir()) == []


def test_a_pin_that_fits_is_taken(pip: list[str], tmp_path: Path) -> None:
    pinned = prepare("pypi:six==1.16.0", cache=tmp_path).info
    assert prepare(pinned.spec, cache=tmp_path).info == pinned


def test_a_project_is_prepared_once_and_then_used_offline(pip: list[str], tmp_path: Path) -> None:
    first = prepare("pypi:six==1.16.0", cache=tmp_path)
    assert prepare("pypi:six==1.16.0", cache=tmp_path) == first
    assert pip == ["six==1.16.0"]


def test_a_project_that_was_never_finished_is_prepared_again(pip: list[str], tmp_path: Path) -> None:
    first = prepare("pypi:six==1.16.0", cache=tmp_path)
    (first.root.parent / sealed.LIST).unlink()
    assert prepare("pypi:six==1.16.0", cache=tmp_path) == first
    assert len(pip) == 2
    assert [path.name for path in (tmp_path / "projects").iterdir()] == [first.root.parent.name]


@pytest.mark.parametrize("name", ["six.py", "../project.json"])
def test_a_truncated_file_of_a_project_is_noticed_and_fetched_again(name: str, pip: list[str], tmp_path: Path) -> None:
    first = prepare("pypi:six==1.16.0", cache=tmp_path)
    os.truncate(first.root / name, 3)
    with pytest.warns(match=rf"pypi-six-.*damaged: .*{Path(name).name} changed; it is made again"):
        assert prepare("pypi:six==1.16.0", cache=tmp_path) == first
    assert (first.root / "six.py").read_text() == "six.py"
    assert checksum(first.root) == first.info.checksum


def test_a_damaged_commit_of_a_branch_is_fetched_again(tmp_path: Path) -> None:
    origin = create(tmp_path / "origin")
    origin.commit(a_py="one")
    first = prepare(f"git:{origin.url}@main", cache=tmp_path)
    os.truncate(first.root / "a.py", 0)
    with pytest.warns(match="damaged"):
        assert prepare(f"git:{origin.url}@main", cache=tmp_path) == first
    assert (first.root / "a.py").read_text() == "one"


def test_two_that_prepare_the_same_project_get_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2)

    def download(requirement: str, folder: Path) -> Path:
        both.wait(10)
        return archive(folder / "six.whl", "six.py")

    monkeypatch.setattr(packages, "pip_download", download)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(prepare("pypi:six==1", cache=tmp_path))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert len(list((tmp_path / "projects").iterdir())) == 1


def test_an_archive_is_fetched_and_its_top_folder_entered(tmp_path: Path) -> None:
    made = archive(tmp_path / "made.zip", "thing-1.0/a.py", "thing-1.0/b/c.py")
    with serve(sends(made.read_bytes())) as server:
        project = prepare(f"{server.url('/thing-1.0.zip?token=secret')}#sha256={sha256(made)}", cache=tmp_path)
        assert server.asked == ["/thing-1.0.zip?token=secret"]
    assert (project.root / "b/c.py").is_file()
    assert (project.info.name, project.info.revision) == ("thing-1.0", sha256(made))
    assert "secret" not in project.info.spec


def test_an_archive_with_several_entries_at_the_top_is_entered_nowhere(tmp_path: Path) -> None:
    made = archive(tmp_path / "made.zip", "a.py", "b/c.py")
    with serve(sends(made.read_bytes())) as server:
        project = prepare(f"{server.url()}#sha256={sha256(made)}", cache=tmp_path)
    assert (project.root / "b/c.py").is_file()


def test_a_download_that_fails_leaves_no_project(tmp_path: Path) -> None:
    with serve(answers(404)) as server, pytest.raises(DownloadError):
        prepare(f"{server.url()}#sha256={DIGEST}", cache=tmp_path)
    assert list((tmp_path / "projects").iterdir()) == []


def test_a_commit_is_prepared_once(tmp_path: Path) -> None:
    origin = create(tmp_path / "origin")
    spec = f"git:{origin.url}@{origin.commit(a__b_py='one')}"
    project = prepare(spec, cache=tmp_path)
    shutil.rmtree(origin.folder)
    assert prepare(spec, cache=tmp_path) == project
    assert (project.info.spec, project.info.name) == (spec, "origin")
    assert (project.root / "a/b.py").is_file()


def test_a_branch_is_looked_up_each_time(tmp_path: Path) -> None:
    origin = create(tmp_path / "origin")
    commits = [origin.commit(a_py="one")]
    found = [prepare(f"git:{origin.url}@main", cache=tmp_path)]
    commits.append(origin.commit(a_py="two"))
    found.append(prepare(f"git:{origin.url}@main", cache=tmp_path))
    assert [project.info.revision for project in found] == commits
    assert [(project.root / "a.py").read_text() for project in found] == ["one", "two"]


@pytest.mark.needs("git")
def test_a_branch_that_cannot_be_looked_up_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="git fetch failed"):
        prepare(f"git:{(tmp_path / 'nowhere').as_uri()}@main", cache=tmp_path)


def test_a_path_is_used_in_place_and_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base/mine").mkdir(parents=True)
    (tmp_path / "base/mine/a.py").write_text("x")
    monkeypatch.chdir(tmp_path / "base")
    project = prepare("path:mine", cache=tmp_path / "cache")
    assert project.root == (tmp_path / "base/mine").resolve()
    assert (project.info.name, project.info.revision) == ("mine", "working tree")
    assert os.listdir(project.root) == ["a.py"]  # noqa: PTH208 - hidden ones too
    assert not (tmp_path / "cache").exists()


def test_a_path_that_is_no_folder_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, why in (("file", "is a file: give its folder"), ("nowhere", "there is no folder")):
        with pytest.raises(ConfigError, match=why):
            prepare(f"path:{tmp_path / name}", cache=tmp_path)


def test_the_checksum_is_that_of_sorted_paths_and_contents(tmp_path: Path) -> None:
    for name in ("b.py", "a/c.py", "a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    lines = [f"{name}\0{hashlib.sha256(name.encode()).hexdigest()}\n" for name in ("a.py", "a/c.py", "b.py")]
    assert checksum(tmp_path) == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_hidden_folders_and_links_do_not_change_the_checksum(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    before = checksum(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").touch()
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    assert checksum(tmp_path) == before


@pytest.mark.parametrize("change", ["rename", "edit", "add"])
def test_each_change_of_a_file_changes_the_checksum(tmp_path: Path, change: str) -> None:
    (tmp_path / "a.py").write_text("x")
    before = checksum(tmp_path)
    if change == "rename":
        (tmp_path / "a.py").rename(tmp_path / "b.py")
    else:
        (tmp_path / ("a.py" if change == "edit" else ".hidden")).write_text("y")
    assert checksum(tmp_path) != before


def test_a_cache_that_cannot_be_written_is_a_preparation_error(pip: list[str], tmp_path: Path) -> None:
    (tmp_path / "projects").write_text("in the way")
    with pytest.raises(PreparationError, match=r"Cannot prepare pypi:.*writable"):
        prepare("pypi:six==1.16.0", cache=tmp_path)
