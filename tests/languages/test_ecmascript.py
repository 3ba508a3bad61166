"""TypeScript and JavaScript beyond the samples, and their imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.import_syntax import Project
from ci_eval.plugins.languages.ecmascript.imports import SYNTAX
from tests.languages.there import shares
from tests.projects import write

JSX = "const view = <Panel title={name}><div onClick={run}>text</div><ns.Part {...rest} /></Panel>;\n"


@pytest.mark.parametrize(("name", "path"), [("typescript", "a.tsx"), ("javascript", "a.jsx")])
def test_components_are_names_and_elements_of_html_are_not(name: str, path: str) -> None:
    found = languages.CATALOG.load(name).extract(JSX, path, {})
    named = [(token.text, token.properties.kind.value) for token in found.tokens if token.properties.kind != "KEYWORD"]
    assert named == [
        ("Panel", "VARIABLE"),
        ("title", "ARGUMENT_NAME"),
        ("name", "VARIABLE"),
        ("onClick", "ARGUMENT_NAME"),
        ("run", "VARIABLE"),
        ("ns", "VARIABLE"),
        ("Part", "FIELD"),
        ("rest", "VARIABLE"),
        ("Panel", "VARIABLE"),
    ]


def test_angle_brackets_are_casts_where_there_are_no_elements() -> None:
    found = languages.CATALOG.load("typescript").extract("const a = <Panel>b;\n", "a.ts", {})
    assert [token.properties.kind.value for token in found.tokens] == ["KEYWORD", "TYPE_REFERENCE", "VARIABLE"]


@pytest.mark.parametrize("name", ["typescript", "javascript"])
def test_a_minified_file_is_one_long_line_and_no_trouble(name: str) -> None:
    text = "!function(e){" + "e.exports=function(t){return t.a(e)};" * 5_000 + "}(this);"
    assert len(languages.CATALOG.load(name).extract(text, "a.min.js", {}).tokens) > 30_000


def test_members_are_created_once_in_each_block() -> None:
    text = "{ const o = {}; o.x = 1; o.x = 2; }\n" * 100
    tokens = languages.CATALOG.load("javascript").extract(text, "a.js", {}).tokens
    assert sum(token.text == "x" for token in tokens) == 100


def test_a_type_parameter_is_known_where_it_is_all_of_the_type() -> None:
    tokens = languages.CATALOG.load("typescript").extract("type A<T extends object> = T\n", "a.ts", {}).tokens
    assert [token.properties.is_static for token in tokens if token.text == "T"] == [False]


def test_unique_symbol_is_two_keywords() -> None:
    tokens = languages.CATALOG.load("typescript").extract("declare const a: unique symbol;\n", "a.ts", {}).tokens
    assert [token.text for token in tokens] == ["declare", "const", "unique", "symbol"]
    assert {token.properties.kind.value for token in tokens} == {"KEYWORD"}


TEXT = """import { one } from "./a";
import type { Two, type Three as Drei } from './b.js'
import Four, { five } from "four";
import {
  six,
  seven,
} from "../c";
import { eight, /* not nine */ nine } from "d";
import { ten } from "e";
import { ten } from "f";
"""


def test_names_that_stand_alone_can_be_removed() -> None:
    imports = {item.name: item for item in SYNTAX.read(TEXT) if item.removable}
    assert {name: TEXT[item.begin : item.end] for name, item in imports.items()} == {
        "one": 'import { one } from "./a";\n',
        "Two": "Two, ",
        "six": "six,\n  ",
        "seven": ",\n  seven",
    }
    assert {item.name for item in SYNTAX.read(TEXT)} >= {"Drei", "five", "eight", "ten"}


FILES = {
    "src/index.ts": 'export * from "./inner";\nexport { Box as Case } from "./goods.js";\n',
    "src/inner/index.ts": 'import { Lid } from "../goods";\nexport { Lid };\nexport const inner = 1;\n',
    "src/goods.ts": "export class Box {}\nexport interface Lid {}\nfunction hidden() {}\nexport { hidden };\n",
    "src/loop.ts": 'export * from "./loop";\n',
    "src/other.ts": "export class Box {}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "package.json").write_text('{"name": "shop", "types": "./src/index.ts"}')
    return Project(tmp_path, None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (("./index", "Case"), ("./goods", "Box"), True),
        (("./inner", "Lid"), ("./goods", "Lid"), True),
        (("./index", "Lid"), ("src/goods", "Lid"), True),
        (("./index", "inner"), ("./inner/index.js", "inner"), True),
        (("./other", "Box"), ("./goods", "Box"), False),
        (("./loop", "Box"), ("./goods", "Box"), False),
        (("rxjs", "Box"), ("./goods", "Box"), False),
        (("shop", "Case"), ("./goods", "Box"), True),
        (("shop/src/goods", "Box"), ("./goods", "Box"), True),
    ],
)
def test_re_exports_are_followed(project: Project, first: tuple[str, str], second: tuple[str, str], same: bool) -> None:
    modules = SYNTAX.modules(project)
    assert (modules.origin("src/main.ts", *first) == modules.origin("src/main.ts", *second)) == same


def test_a_module_has_one_identity(project: Project) -> None:
    modules = SYNTAX.modules(project)
    assert len({modules.identify("src/main.ts", name) for name in ("./goods", "./goods.js", "src/goods")}) == 1
    assert modules.identify("src/main.ts", "rxjs") == "rxjs"


def test_a_module_outside_of_the_project_is_none_of_its_own(project: Project, tmp_path: Path) -> None:
    (tmp_path.parent / "secret.ts").write_text("export const key = 1;\n")
    assert SYNTAX.modules(project).origin("src/main.ts", "../../secret", "key") == ("../../secret", "key")


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


@pytest.mark.parametrize(
    ("file", "text", "known"),
    [
        (
            "tsconfig__json",
            """{ // the compiler's
              "compilerOptions": {"paths": {"@app/*": ["./lib/*", "./src/*"], "~all": ["src/b.ts"],}, /* none */ } }""",
            [True, True, False, False],
        ),
        ("tsconfig__json", '{"compilerOptions": {"baseUrl": "src"}}', [False, False, True, False]),
        (
            "package__json",
            '{"imports": {"#own/*": {"types": "./none/*", "default": "./src/*.js"}}}',
            [False] * 3 + [True],
        ),
        ("tsconfig__json", "{broken", [False] * 4),
    ],
)
def test_names_of_files_in_the_projects_settings_are_there(
    tmp_path: Path, file: str, text: str, known: list[bool]
) -> None:
    root = write(tmp_path, **{file: text, "src/b__ts": ""})
    names = ("@app/b", "~all", "b", "#own/b")
    source = "".join(f'import x from "{name}";\n' for name in names)
    assert shares("typescript", root, "a.ts", source) == known
    assert shares("typescript", root, "a.ts", 'import x from "@app/gone";\n') == [False]


SHARED = '{"compilerOptions": {"baseUrl": ".", "paths": {"@core/*": ["libs/core/*"]}}}'


@pytest.mark.parametrize(
    "files",
    [
        {"app/tsconfig__json": '{"extends": "../shared.json"}', "shared__json": SHARED},
        {"app/tsconfig__json": '{"extends": ["../shared"]}', "shared__json": SHARED},
        {
            "package__json": '{"workspaces": ["tools"]}',
            "tools/package__json": '{"name": "@me/tools"}',
            "tools/base__json": '{"compilerOptions": {"paths": {"@core/*": ["../libs/core/*"]}}}',
            "app/tsconfig__json": '{"extends": "@me/tools/base.json"}',
        },
        {
            "app/tsconfig__json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "app/tsconfig__app__json": '{"compilerOptions": {"paths": {"@core/*": ["../libs/core/*"]}}}',
        },
    ],
    ids=["extends", "without-ending", "package", "references"],
)
def test_the_nearest_settings_count_with_those_that_they_extend(tmp_path: Path, files: dict[str, str]) -> None:
    root = write(tmp_path, **files, **{"libs/core/book__ts": "", "tsconfig__json": "{}"})
    text = 'import x from "@core/book"; import y from "@core/none"'
    assert shares("typescript", root, "app/src/a.ts", text) == [True, False]
    assert shares("typescript", root, "b.ts", text) == [False, False]


@pytest.mark.parametrize("extended", ["./tsconfig.json", "/etc/passwd", "../../x", "/", "", ".", 5, [[]]])
def test_settings_that_extend_themselves_or_other_folders_have_only_their_own(tmp_path: Path, extended: object) -> None:
    options = {"extends": extended, "references": [{"path": extended}, 7], "compilerOptions": {"paths": {"a": ["b"]}}}
    root = write(tmp_path, tsconfig__json=json.dumps(options), b__ts="")
    assert shares("typescript", root, "c.ts", 'import "a"; import "b"') == [True, False]


@pytest.mark.parametrize("part", ["/* ", '"\\', '"', ","])
def test_broken_settings_are_read_in_linear_time(part: str, tmp_path: Path) -> None:
    """With a quadratic pattern this would take minutes."""
    write(tmp_path, tsconfig__json=part * 100_000, a__ts='import {x} from "y";\n')
    check = languages.CATALOG.load("javascript").imports
    assert check
    assert list(check(tmp_path, None)("a.ts", 'import {x} from "y";\n')) == [("y", False)]
