"""What the project in a folder is called."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from ci_eval.fetch.identity import Identity, https_address, identify, last_part
from ci_eval.fetch.project import prepare
from ci_eval.plugins.engines.controls import WORDS
from tests.projects import GREETER, ask, generate, sessions, setup, write

CONFIGURATION = """
[core]
\tbare = false
[remote "fork"]
\turl = https://host/me/renamed.git
[remote "origin"]
\tfetch = +refs/heads/*:refs/remotes/origin/*
\turl = {}
"""


def repository(folder: Path, address: str = "git@host:group/thing.git") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "config").write_text(CONFIGURATION.format(address))
    return folder


@pytest.mark.parametrize(
    "address",
    [
        "git@host:group/sub/thing.git",
        "https://user@host/thing",
        "ssh://git@host:2222/thing.git/",
        "/srv/git/thing.git",
        "file:///C:/repos/thing",
    ],
)
def test_the_last_part_of_a_remote_is_the_name_whatever_the_folder_is_called(tmp_path: Path, address: str) -> None:
    assert identify(repository(tmp_path / "3f9a", address), {}) == Identity("thing", "thing")
    assert last_part(address) == "thing"


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("git@host:group/sub/thing.git", "https://host/group/sub/thing"),
        ("https://user:secret@host/thing", "https://host/thing"),
        ("ssh://git@host:2222/group/thing.git/", "https://host/group/thing"),
        ("http://host:8080/group/thing", "https://host:8080/group/thing"),
        ("/srv/git/thing.git", ""),
        ("../up.stream/thing", ""),
        ("C:/repos/thing", ""),
        ("file:///C:/repos/thing", ""),
    ],
)
def test_a_remote_at_a_host_has_a_page_that_holds_no_password(address: str, page: str) -> None:
    assert https_address(address) == page


def test_a_project_below_the_top_has_the_repositorys_name_and_for_people_its_folder(tmp_path: Path) -> None:
    (repository(tmp_path / "x") / "packages" / "a").mkdir(parents=True)
    assert identify(tmp_path / "x" / "packages" / "a", {}) == Identity("thing", "thing/packages/a")


def test_a_worktree_and_a_submodule_have_the_names_of_their_repositories(tmp_path: Path) -> None:
    own = repository(tmp_path / "main") / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    module = tmp_path / "main" / ".git" / "modules" / "m"
    module.mkdir(parents=True)
    (module / "config").write_text('[remote "origin"]\n\turl = https://host/submodule\n')
    for folder, git in (("worktree", own), ("main/m", "../.git/modules/m")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ".git").write_text(f"gitdir: {git}\n")
    assert identify(tmp_path / "worktree", {}).repository == "thing"
    assert identify(tmp_path / "main" / "m", {}) == Identity("submodule", "submodule")


def test_the_ci_says_the_name_of_what_it_checked_out_and_of_nothing_else(tmp_path: Path) -> None:
    for folder in ("checkout/src", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    checkout, properties = tmp_path / "checkout", tmp_path / "build.properties"
    more = tmp_path / "configuration.properties"
    more.write_text("vcsroot.url=https\\://host/group/thing.git\n")
    properties.write_text(
        f"# made by the agent\nteamcity.build.checkoutDir={checkout}\nteamcity.configuration.properties.file={more}\n"
    )
    for environment in (
        {"GITHUB_REPOSITORY": "owner/thing", "GITHUB_WORKSPACE": str(checkout)},
        {"CI_PROJECT_PATH": "group/sub/thing", "CI_PROJECT_DIR": str(checkout)},
        {"TEAMCITY_BUILD_PROPERTIES_FILE": str(properties)},
    ):
        assert identify(checkout / "src", environment) == Identity("thing", "thing/src")
        assert identify(tmp_path / "elsewhere", environment) == Identity("", "elsewhere")


def test_without_remote_and_ci_only_people_see_the_folders_name(tmp_path: Path) -> None:
    (tmp_path / "x" / ".git").mkdir(parents=True)
    (tmp_path / "x" / ".git" / "config").write_text("[core]\n\tbare = false\n")
    assert identify(tmp_path / "x", {}) == Identity("", "x")


def ids(folder: Path, name: str | None = None) -> set[str]:
    info = prepare(f"path:{folder}", cache=folder.parent / "cache", name=name).info
    workspace = generate(folder, Path(tempfile.mkdtemp(dir=folder.parent)), project=info)
    ask(workspace, setup(WORDS, folder))
    return {each.id for each in sessions(workspace)}


def test_equal_text_below_an_equal_path_has_an_equal_id_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_REPOSITORY", "CI_PROJECT_PATH", "TEAMCITY_BUILD_PROPERTIES_FILE"):
        monkeypatch.delenv(name, raising=False)
    one, two = (write(tmp_path / name, a__py=GREETER) for name in ("one", "two"))
    assert ids(one) == ids(two)
    assert ids(one, "named") == ids(two, "named")
    assert not ids(one) & ids(one, "named")
    repository(two)
    assert not ids(one) & ids(two)
