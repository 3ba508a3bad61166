"""Git: the files of one revision, and nothing a repository or an address could smuggle in."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.git import VARIABLES, check_address, fetch_revision, parse_page, read_revision
from tests.fetch.repository import Repository, create
from tests.fetch.standins import client


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return create(tmp_path / "origin")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_an_old_commit_is_fetched_by_its_id(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit(a_py="one")
    repository.commit(a_py="two", b_py="new")
    assert fetch_revision(repository.url, first, tmp_path / "out") == first
    assert files(tmp_path / "out") == ["a.py"]
    assert (tmp_path / "out/a.py").read_text() == "one"


def test_a_branch_and_a_tag_become_the_full_commit_id(repository: Repository, tmp_path: Path) -> None:
    tagged = repository.commit(a_py="one")
    repository.git("tag", "--annotate", "--message=x", "v1.0")
    newest = repository.commit(a_py="two")
    assert fetch_revision(repository.url, "v1.0", tmp_path / "one") == tagged
    assert fetch_revision(repository.url, "main", tmp_path / "two") == newest


def test_the_id_of_a_tag_is_not_the_id_of_its_commit(repository: Repository, tmp_path: Path) -> None:
    repository.commit(a_py="one")
    repository.git("tag", "--annotate", "--message=x", "v1.0")
    with pytest.raises(InstallError, match="id of a tag"):
        fetch_revision(repository.url, repository.git("rev-parse", "v1.0"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("revision", ["nosuch", "0" * 40])
def test_a_revision_that_is_not_there_is_an_error_and_leaves_nothing(
    repository: Repository, tmp_path: Path, revision: str
) -> None:
    repository.commit(a_py="one")
    with pytest.raises(InstallError, match="git fetch failed"):
        fetch_revision(repository.url, revision, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.needs("git")
def test_a_repository_of_sha_256_objects_is_fetched_by_its_long_id(tmp_path: Path) -> None:
    (tmp_path / "origin").mkdir()
    repository = Repository(tmp_path / "origin")
    repository.git("init", "--quiet", "--object-format=sha256")
    commit = repository.commit(a_py="one")
    assert len(commit) == 64
    assert fetch_revision(repository.url, commit, tmp_path / "out") == commit


def test_harmless_faults_of_old_commits_are_no_reason_to_refuse_them(repository: Repository, tmp_path: Path) -> None:
    repository.commit(a_py="one")
    newest = repository.git("cat-file", "commit", "HEAD").replace(" +0000", " -51800000")
    (tmp_path / "commit").write_text(newest + "\n")
    faulty = repository.git("hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit"))
    repository.git("update-ref", "refs/heads/main", faulty)
    assert fetch_revision(repository.url, "main", tmp_path / "out") == faulty


def test_symbolic_links_are_left_out(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "d").mkdir()
    (repository.folder / "d/link é.py").symlink_to("/etc/passwd")
    commit = repository.commit(a_py="one")
    fetch_revision(repository.url, commit, tmp_path / "out")
    assert [name for name in files(tmp_path / "out") if name != "d"] == ["a.py"]


def test_a_submodule_is_not_fetched(repository: Repository, tmp_path: Path) -> None:
    other = create(tmp_path / "other")
    other.commit(evil_py="x")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.url, "sub")
    commit = repository.commit(a_py="one")
    fetch_revision(repository.url, commit, tmp_path / "out")
    assert files(tmp_path / "out") == [".gitmodules", "a.py", "sub"]


def test_neither_settings_nor_hooks_of_the_user_are_used(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repository.commit(a_py="one\n")
    hook = tmp_path / "hooks/post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\n\thooksPath = {hook.parent}\n\tautocrlf = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    fetch_revision(repository.url, commit, tmp_path / "out")
    assert (tmp_path / "out/a.py").read_bytes() == b"one\n"
    assert not (tmp_path / "ran").exists()


def test_variables_of_a_running_git_do_not_lead_it_astray(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repository.commit(a_py="one")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.autocrlf=true'")
    fetch_revision(repository.url, commit, tmp_path / "out")
    assert files(tmp_path / "out") == ["a.py"]
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x",
        "ext::sh",
        "--upload-pack=touch /tmp/x",
        "-u",
        "ssh://git@example.org/x",
        "git@example.org:x/y",
        "git://example.org/x",
        "http://example.org/x",
        "http://127.0.0.1/x",
        "file://example.org/x",
        "file:relative",
        "/absolute/path",
        "relative",
        "https://",
        "https://me:secret@example.org/x",
        "https://example.org/a b",
        "https://example.org/a\nb",
        "https://example.org\\x",
        "HTTPS::https://example.org/x",
        "",
    ],
)
def test_an_address_that_is_not_https_or_a_folder_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        fetch_revision(url, "main", tmp_path / "out")
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("url", ["https://example.org/x.git", "https://example.org:8443/x/y", "file:///a/b"])
def test_https_and_folders_are_allowed(url: str) -> None:
    check_address(url, "main")


@pytest.mark.parametrize(
    "revision", ["", "-f", "--upload-pack=x", "a..b", "a b", "a:b", "+main", "a\n", "HEAD^", "@{u}", "/a", ".a", "ä"]
)  # fmt: skip
def test_a_revision_that_could_be_anything_else_is_refused(revision: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a Git revision"):
        fetch_revision("file:///nowhere", revision, tmp_path / "out")


@pytest.mark.parametrize("revision", ["main", "v1.0", "release/2.x", "refs/tags/v1", "0123abcd" * 5])
def test_commit_ids_tags_and_branches_are_allowed(revision: str) -> None:
    check_address("file:///a", revision)


def test_a_git_that_hangs_is_ended(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module("git")  # asks git for its version, once a process
    client(tmp_path, monkeypatch, "git", "sleep 20")
    monkeypatch.setattr("ci_eval.fetch.git.TIMEOUT", 0.3)
    with pytest.raises(InstallError, match=r"git init failed[^ ]*\n.*did not complete in 0\.3"):
        fetch_revision(repository.url, "main", tmp_path / "out")


def test_a_missing_git_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match="git is not installed"):
        fetch_revision("file:///nowhere", "main", tmp_path / "out")


def test_a_program_that_is_not_git_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client(tmp_path, monkeypatch, "git", "exit 1")
    # In a process of its own: GitPython asks for the version when it is first imported.
    program = "import sys; from pathlib import Path; from ci_eval.fetch.git import fetch_revision as fetch"
    program += "; fetch('file:///nowhere', 'main', Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "out"], capture_output=True, text=True)
    assert f"InstallError: {tmp_path / 'bin/git'} does not work. Put a git" in done.stderr


@pytest.mark.parametrize(
    ("page", "spec"),
    [
        ("https://github.com/pallets/click", "git:https://github.com/pallets/click@HEAD"),
        ("https://github.com/pallets/click.git", "git:https://github.com/pallets/click@HEAD"),
        ("https://github.com/pallets/click/", "git:https://github.com/pallets/click@HEAD"),
        ("https://github.com/pallets/click/tree/8.1.x", "git:https://github.com/pallets/click@8.1.x"),
        ("https://gitlab.com/o/r/-/tree/feature/a", "git:https://gitlab.com/o/r@feature/a"),
        ("https://codeberg.org/o/r/src/branch/main", "git:https://codeberg.org/o/r@main"),
        ("https://github.com/o/r/archive/v1.zip", ""),
        ("https://github.com/o", ""),
        ("https://example.org/o/r", ""),
        ("https://github.com/o/r#sha256=00", ""),
    ],
)
def test_the_page_of_a_repository_stands_for_it(page: str, spec: str) -> None:
    assert parse_page(page) == spec


@pytest.fixture
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.needs("git")
@pytest.mark.usefixtures("no_variables")
def test_a_checkout_is_of_its_commit_until_a_file_is_changed(repository: Repository) -> None:
    commit = repository.commit(a_py="one", sub__b_py="two")
    (repository.folder / "new.log").touch()
    assert read_revision(repository.folder) == read_revision(repository.folder / "sub") == commit
    (repository.folder / "a.py").write_text("other")
    assert read_revision(repository.folder) == f"{commit}+changes"
    assert read_revision(repository.folder / "sub") == commit


@pytest.mark.needs("git")
@pytest.mark.usefixtures("no_variables")
def test_files_that_git_does_not_track_are_of_no_commit(repository: Repository, tmp_path: Path) -> None:
    repository.commit(a_py="one")
    (repository.folder / "downloads").mkdir()
    (repository.folder / "downloads" / "c.py").touch()
    assert read_revision(repository.folder / "downloads") == ""
    (tmp_path / "plain").mkdir()
    assert read_revision(tmp_path / "plain") == ""


@pytest.mark.needs("git")
@pytest.mark.usefixtures("no_variables")
def test_no_program_that_a_repository_names_is_started(repository: Repository) -> None:
    commit = repository.commit(a_py="one", _gitattributes="*.py filter=x")
    for name in ("filter.x.clean", "core.fsmonitor", "diff.external"):
        repository.git("config", name, "touch started; cat")
    (repository.folder / "a.py").write_text("other")
    assert read_revision(repository.folder) == ""
    repository.git("config", "--remove-section", "filter.x")
    assert read_revision(repository.folder) == f"{commit}+changes"
    assert not (repository.folder / "started").exists()


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.usefixtures("no_variables")
def test_without_a_repository_the_ci_says_what_it_checked_out(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv(variable, "c0ffee")
    assert read_revision(Path("sub")) == "c0ffee"
    # Of another folder, the CI knows nothing.
    assert read_revision(tmp_path) == ""
    monkeypatch.setenv(variable, "c0ffee\nx")
    assert read_revision(Path("sub")) == ""
