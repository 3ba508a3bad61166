"""Imports of JavaScript and TypeScript."""

from __future__ import annotations

from pathlib import Path

from tests.grammar.imports.there import shares
from tests.projects import write


def test_a_module_of_javascript_is_a_file_a_package_or_built_in(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"lib/a__ts": "", "lib/b/index__js": "", "node_modules/@me/x/package__json": ""})
    write(tmp_path / "e", **{"node_modules/@types/lodash/index__d__ts": ""})
    text = "import a from './a.js'; export * from './b'; require('fs/promises'); import '@me/x/y'; import('lodash')\n"
    assert shares("javascript", root, "lib/c.js", text, tmp_path / "e") == [True] * 5
    assert shares("typescript", root, "lib/c.ts", "import 'left-pad'; import x from './c/none';\n") == [False] * 2


def test_a_package_of_the_workspace_and_one_that_is_installed_for_a_member_are_there(tmp_path: Path) -> None:
    members = {"app/package__json": '{"name": "app"}', "core/package__json": '{"name": "@me/core"}'}
    root = write(tmp_path / "p", package__json='{"workspaces": ["app", "core"]}', **members)
    write(tmp_path / "e", **{"app/node_modules/deep/package__json": ""})
    text = "import '@me/core/part'; import 'deep'; import '@me/other'\n"
    assert shares("typescript", root, "app/a.ts", text, tmp_path / "e") == [True, True, False]
    assert shares("typescript", root, "core/a.ts", text, tmp_path / "e") == [True, False, False]
