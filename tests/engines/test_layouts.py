"""Layouts of projects with several packages: engines find the names of another package of the project, as for a user
whose tools read the same files, and without an installation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from ci_eval.core import machine
from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.plugins.adapters.engine import FromRecipe
from tests.needs import need_engine
from tests.projects import write

pytestmark = pytest.mark.engine

PYTHON = "class Ledger:\n    def balance_of(self, account):\n        return account\n"
TYPESCRIPT = "export class Ledger {\n  balanceOf(account: string): number {\n    return account.length;\n  }\n}\n"
JAVA = "package a.core;\n\npublic class Ledger {\n    public int balanceOf(int a) {\n        return a;\n    }\n}\n"
GO = "package core\n\ntype Ledger struct{}\n\nfunc (l Ledger) BalanceOf(a int) int { return a }\n"
PHP = "<?php\nnamespace Acme\\Core;\n\nclass Ledger\n{\n    public function balanceOf(int $a): int { return $a; }\n}\n"
RUST = "pub struct Ledger;\n\nimpl Ledger {\n    pub fn balance_of(&self, a: i32) -> i32 {\n        a\n    }\n}\n"
CPP = "struct Ledger {\n  int balanceOf(int a) { return a; }\n};\n"


class Layout(NamedTuple):
    """A project in which one package uses another."""

    language: str
    files: dict[str, str]
    path: str
    """The file that is completed in."""
    text: str
    """The text of that file up to the caret."""
    name: str = "balanceOf"


def python(path: str = "web/src/web/app.py", module: str = "core", **files: str) -> Layout:
    text = f"from {module} import Ledger\n\nbook = Ledger()\nbook."
    return Layout("python", files, path, text, "balance_of")


def typescript(**files: str) -> Layout:
    sources = {
        "libs/core/package__json": '{"name": "@me/core", "types": "index.ts"}',
        "libs/core/index__ts": TYPESCRIPT,
    }
    options = '{"compilerOptions": {"module": "esnext", "moduleResolution": "bundler", "target": "es2022"}}'
    text = 'import { Ledger } from "@me/core";\n\nnew Ledger().'
    return Layout("typescript", {**sources, "tsconfig__json": options, **files}, "apps/web/main.ts", text)


def go(**files: str) -> Layout:
    modules = {"core/go__mod": "module example.org/core\n\ngo 1.20\n", "core/core__go": GO}
    text = 'package web\n\nimport "example.org/core"\n\nfunc Use(book core.Ledger) {\n\tbook.'
    return Layout("go", {**modules, **files}, "web/web.go", text, "BalanceOf")


def java(core: str, web: str, **files: str) -> Layout:
    text = "package a.web;\n\nimport a.core.Ledger;\n\nclass Till {\n    void use(Ledger book) {\n        book."
    return Layout("java", {f"{core}/a/core/Ledger__java": JAVA, **files}, f"{web}/a/web/Till.java", text)


NAMED = "[project]\nname = '{}'\nversion = '0'\n"
WEB = {"web/pyproject__toml": NAMED.format("web")}
CORE = {"core/pyproject__toml": NAMED.format("core"), "core/src/core__py": PYTHON}
APP = {"apps/web/package__json": '{"name": "web", "dependencies": {"@me/core": "workspace:*"}}'}
POM = "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>{}"

LAYOUTS = {
    "python-src": python("tests/a.py", "core", pyproject__toml=NAMED.format("core"), **{"src/core__py": PYTHON}),
    "python-uv-workspace": python(pyproject__toml="[tool.uv.workspace]\nmembers = ['web', 'c*']\n", **WEB, **CORE),
    "python-uv-path": python(pyproject__toml="[tool.uv.sources]\ncore = { path = 'core' }\n", **WEB, **CORE),
    "python-poetry-path": python(
        pyproject__toml="[tool.poetry.dependencies]\ncore = { path = 'core', develop = true }\n", **CORE
    ),
    "python-namespace": python(
        "web/src/acme/web/app.py",
        "acme.core",
        pyproject__toml="[tool.uv.workspace]\nmembers = ['web', 'core']\n",
        **{"web/pyproject__toml": NAMED.format("acme-web"), "core/pyproject__toml": NAMED.format("acme-core")},
        **{"core/src/acme/core__py": PYTHON},
    ),
    "python-setuptools": python(
        pyproject__toml="[tool.setuptools]\npackage-dir = { '' = 'lib' }\n", **{"lib/core__py": PYTHON}
    ),
    "python-setuptools-find": python(
        pyproject__toml="[tool.setuptools.packages.find]\nwhere = ['lib']\n", **{"lib/core__py": PYTHON}
    ),
    "python-poetry-packages": python(
        pyproject__toml="[[tool.poetry.packages]]\ninclude = 'core'\nfrom = 'lib'\n",
        **{"lib/core__py": PYTHON},
    ),
    "python-hatch": python(
        pyproject__toml="[tool.hatch.build.targets.wheel]\npackages = ['lib/core']\n",
        **{"lib/core__py": PYTHON},
    ),
    "python-pdm": python(pyproject__toml="[tool.pdm.build]\npackage-dir = 'lib'\n", **{"lib/core__py": PYTHON}),
    "python-editable": python(requirements__txt="-e ./core\n", **CORE),
    "python-setup-cfg": python(setup__cfg="[options]\npackage_dir =\n    = lib\n", **{"lib/core__py": PYTHON}),
    "tsconfig-extends": typescript(
        tsconfig__json='{"extends": "./base.json"}',
        base__json='{"compilerOptions": {"module": "esnext", "moduleResolution": "bundler", "target": "es2022", '
        '"paths": {"@me/core": ["./libs/core/index.ts"]}}}',
    ),
    "npm-workspaces": typescript(package__json='{"workspaces": ["apps/*", "libs/*"]}', **APP),
    "yarn-workspaces": typescript(package__json='{"workspaces": {"packages": ["apps/*", "libs/*"]}}', **APP),
    "pnpm-workspaces": typescript(**{"pnpm-workspace__yaml": "packages: ['apps/*', 'libs/*']\n"}, **APP),
    "npm-file": typescript(package__json='{"dependencies": {"@me/core": "file:libs/core"}}'),
    "go-work": go(go__work="go 1.20\n\nuse (\n\t./core\n\t./web\n)\n", **{"web/go__mod": "module example.org/web\n"}),
    "go-replace": go(
        go__mod="module example.org/all\n\ngo 1.20\n\nrequire example.org/core v0.0.0\n\n"
        "replace example.org/core => ./core\n"
    ),
    "maven-modules": java(
        "core/src/main/java",
        "web/src/main/java",
        pom__xml=f"{POM.format('<packaging>pom</packaging><modules><module>core</module></modules>')}</project>",
        **{"core/pom__xml": f"{POM.format('')}</project>"},
    ),
    "gradle-modules": java("core/src/main/java", "web/src/main/java", settings__gradle="include 'core', 'web'\n"),
    "composer-paths": Layout(
        "php",
        {
            "composer__json": json.dumps(
                {"repositories": [{"type": "path", "url": "packages/*"}], "require": {"acme/core": "*"}}
            ),
            "packages/core/composer__json": json.dumps(
                {"name": "acme/core", "autoload": {"psr-4": {"Acme\\Core\\": "src/"}}}
            ),
            "packages/core/src/Ledger__php": PHP,
        },
        "src/use.php",
        "<?php\nuse Acme\\Core\\Ledger;\n\nfunction settle(Ledger $book) {\n    return $book->",
    ),
    "cargo-workspace": Layout(
        "rust",
        {
            "Cargo__toml": '[workspace]\nresolver = "2"\nmembers = ["core", "web"]\n',
            "core/Cargo__toml": '[package]\nname = "core_book"\nversion = "0.1.0"\nedition = "2021"\n',
            "core/src/lib__rs": RUST,
            "web/Cargo__toml": '[package]\nname = "web"\nversion = "0.1.0"\nedition = "2021"\n\n'
            '[dependencies]\ncore_book = { path = "../core" }\n',
        },
        "web/src/lib.rs",
        "use core_book::Ledger;\n\npub fn settle(book: Ledger) -> i32 {\n    book.",
        "balance_of",
    ),
    "cmake-presets": Layout(
        "cpp",
        {
            "CMakePresets__json": '{"version": 3, "configurePresets": [{"name": "debug", "binaryDir": "out/debug"}]}',
            "core/include/ledger__h": CPP,
            "out/debug/compile_commands__json": json.dumps(
                [{"directory": "../..", "file": "web/a.cpp", "arguments": ["c++", "-Icore/include", "web/a.cpp"]}]
            ),
        },
        "web/a.cpp",
        "#include <ledger.h>\n\nint settle(Ledger book) {\n  return book.",
    ),
}
EMBEDDED: dict[str, tuple[str, ...]] = {"python": ("jedi",)}
OTHERS = {
    "python": ("ty", "pyright"),
    "typescript": ("typescript", "typescript-language-server"),
    "go": ("gopls",),
    "java": ("jdt",),
    "php": ("intelephense",),
    "rust": ("rust-analyzer",),
    "cpp": ("clangd",),
}


def ask(layout: Layout, name: str, folder: Path) -> list[str]:
    """Return the names that an engine lists at the caret of a layout's project."""
    root = write(folder / "p", **layout.files, **{layout.path: layout.text})
    language = languages.CATALOG.load(layout.language)
    engine = engines.CATALOG.load(name)
    if isinstance(engine, FromRecipe):
        need_engine(engine)
    around = Surroundings(
        root=root,
        language=layout.language,
        keywords=language.keywords,
        suffixes=language.suffixes,
        cache=machine.cache_folder(),
        timeout=60,
        initialize=120,
        memory=4 * 10**9,
    )
    running = engine.start(engine.install(None, machine.cache_folder()), around)
    try:
        running.open(layout.path, layout.text)
        answer = running.complete(Query(offset=len(layout.text), prefix="", expected=layout.name))
        return [suggestion.text for suggestion in answer.suggestions]
    finally:
        running.close()


def pairs(of_language: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(name, engine) for name, layout in LAYOUTS.items() for engine in of_language.get(layout.language, ())]


@pytest.mark.parametrize(("name", "engine"), pairs(EMBEDDED))
def test_the_embedded_engine_finds_names_of_another_package(name: str, engine: str, tmp_path: Path) -> None:
    assert LAYOUTS[name].name in ask(LAYOUTS[name], engine, tmp_path)


@pytest.mark.registry
@pytest.mark.parametrize(("name", "engine"), pairs(OTHERS))
def test_engines_of_registries_find_names_of_another_package(
    name: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "rust-analyzer":
        _put_toolchain_first(monkeypatch)
    assert LAYOUTS[name].name in [text.partition("(")[0] for text in ask(LAYOUTS[name], engine, tmp_path)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_import_of_a_package_of_the_project_is_missing(name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    root = write(tmp_path, **layout.files)
    imports = languages.CATALOG.load(layout.language).imports
    assert imports
    assert [known for _, known in imports(root, None)(layout.path, layout.text)] == [True]


def _put_toolchain_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put Rust's programs before those of rustup, which start no engine; skip the test if there are none."""
    ended = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
    folder = Path(ended.stdout.strip(), "bin")
    if not (folder / "rust-analyzer").is_file():
        pytest.skip("the toolchain has no rust-analyzer")
    monkeypatch.setenv("PATH", str(folder), prepend=":")
