"""The packages that a project of npm, pnpm or yarn has itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.workspaces import find_members, read_catalogs, read_members
from tests.projects import write

CORE = json.dumps({"name": "@acme/core"})
WEB = json.dumps({"name": "web"})


def folders(root: Path) -> dict[str, str]:
    return {name: folder.relative_to(root).as_posix() for name, folder in read_members(root).items()}


@pytest.mark.parametrize(
    "files",
    [
        {"package__json": json.dumps({"workspaces": ["libs/*", "./apps/web"]})},
        {"package__json": json.dumps({"workspaces": {"packages": ["libs/**", "apps/*", "!apps/old"]}})},
        {"package__json": "{}", "pnpm-workspace__yaml": "packages:\n  - libs/*\n  - apps/*\n  - '!**/old'\n"},
        {"package__json": json.dumps({"dependencies": {"@acme/core": "file:libs/core", "web": "link:./apps/web"}})},
    ],
    ids=["npm", "yarn", "pnpm", "paths"],
)
def test_members_are_read_where_each_client_reads_them(files: dict[str, str], tmp_path: Path) -> None:
    others = {"apps/old/package__json": json.dumps({"name": "old"}), "libs/node_modules/x/package__json": CORE}
    write(tmp_path, **files, **others, **{"apps/web/package__json": WEB})
    write(tmp_path, **{"libs/core/package__json": CORE})
    assert folders(tmp_path) == {"@acme/core": "libs/core", "web": "apps/web"}


@pytest.mark.parametrize("pattern", ["../out", "/tmp", "", ".", "./", "link", "none/*"])
def test_what_is_not_in_the_project_is_no_member(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "out", package__json=CORE)
    root = write(
        tmp_path / "p", package__json=json.dumps({"workspaces": [pattern], "dependencies": {"x": "file:../out"}})
    )
    (root / "link").symlink_to(tmp_path / "out")
    assert read_members(root) == {}


@pytest.mark.parametrize("name", ["../../x", "/x", "a/b", "@a/../b", ".."])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    write(tmp_path, package__json='{"workspaces": ["a"]}', **{"a/package__json": json.dumps({"name": name})})
    with pytest.raises(PreparationError, match="no name of a package"):
        read_members(tmp_path)
    assert find_members(tmp_path) == {}


def test_a_project_without_workspaces_has_no_members(tmp_path: Path) -> None:
    assert read_members(write(tmp_path, package__json=CORE)) == {}


def test_catalogs_of_pnpm_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, **{"pnpm-workspace__yaml": "catalog: {x: ^1.0.0}\ncatalogs: {old: {x: 0.9.0}}\n"})
    assert read_catalogs(tmp_path) == {"": {"x": "^1.0.0"}, "old": {"x": "0.9.0"}}
    write(tmp_path, **{"pnpm-workspace__yaml": "catalog: [x]\n"})
    with pytest.raises(PreparationError, match="catalogs in pnpm-workspace"):
        read_catalogs(tmp_path)


def test_further_folders_of_packages_can_be_named(tmp_path: Path) -> None:
    root = write(tmp_path, package__json="{}", **{"odd/core/package__json": CORE})
    assert read_members(root) == {}
    assert read_members(root, [root / "odd/core"]) == {"@acme/core": root / "odd/core"}
