"""The picture and the table of docs/architecture.md, and the rules of CONTRIBUTING.md, enforced.

A rule is a function of the modules that yields a line for each violation: what is wrong, and what to do. Changes of the
package that break a rule stand beside it in `VIOLATIONS`, so that no rule passes because it checks nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

import pytest

import ci_eval
from ci_eval.plugins import languages
from tests.needs import need_module

ROOT = Path(ci_eval.__file__).parent
PAGE = (ROOT.parent / "docs" / "architecture.md").read_text()
GROUPS = {"core", "plugins"}
"""Folders whose packages stand in the picture; of the others, the folder itself does."""
KINDS = {"engines", "graders", "languages", "log_formats", "metrics", "rankers", "reports", "schemes", "tasks"}
VARIANTS = KINDS | {"apis", "streams", "kinds", "generations"}
APART = {"__init__", "drivers"}
OUTSIDE_CORE = {"plugins", "fetch", "rendering", "jobs", "cli", "ci", "api"}
PICTURE = PAGE.split("```")[1].strip().splitlines()
HEIGHT = {package: -number for number, line in enumerate(PICTURE) for package in line.split()}
TABLE_TEXT = PAGE.split("## Where a change goes")[1]
TABLE = dict(re.findall(r"^\| `(?:\w+/)?(\w+)/` \| .+? \| ?(.*?) ?\|$", TABLE_TEXT, re.MULTILINE))
EVERYWHERE = {"base", "model"}
"""Packages that any other may import."""
SLOW = {"git", "importlib", "jedi", "requests", "urllib3"}
"""Libraries that take long to import, and that most commands never need."""


@dataclass(frozen=True)
class Module:
    path: PurePosixPath
    source: str

    @property
    def package(self) -> str:
        """Return the name in the picture of the package or module that this module belongs to."""
        return _package_of(self.path.with_suffix("").parts)

    @cached_property
    def lines(self) -> int:
        return len(self.source.splitlines())

    @cached_property
    def syntax(self) -> tuple[list[tuple[str, bool]], str | None]:
        """Return the imports and the docstring. The trees of all modules would take longer to collect than to parse."""
        tree = ast.parse(self.source)
        return list(_imports(tree, False)), ast.get_docstring(tree)

    @property
    def imports(self) -> list[tuple[str, bool]]:
        """Return each imported name, and whether the import is in a function or for type checking only."""
        return self.syntax[0]

    @property
    def docstring(self) -> str | None:
        return self.syntax[1]

    @cached_property
    def internal(self) -> set[str]:
        """Return the imported names below `ci_eval`, without that prefix."""
        names = {name.removeprefix("ci_eval.") for name, _ in self.imports if name.startswith("ci_eval.")}
        # `from ci_eval.core import compare` imports a module, `from ci_eval.core.workers import Workers` a value.
        return {name if _is_module(name) else name.rpartition(".")[0] or name for name in names} - {"__version__"}

    @cached_property
    def packages(self) -> set[str]:
        """Return the packages that this module imports, its own aside."""
        return {_package_of(name.split(".")) for name in self.internal} - {self.package}


def _package_of(parts: Sequence[str]) -> str:
    return parts[1] if parts[0] in GROUPS and len(parts) > 1 else parts[0]


def _imports(node: ast.AST, inner: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield from ((f"{child.module}.{alias.name}", inner) for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, inner) for alias in child.names)
        # No expression holds an import: without them, the walk takes a tenth of the time.
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _imports(child, inner or is_function or is_for_types)


@cache
def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


Modules = dict[str, Module]
"""Path below `ci_eval` → module."""


@cache
def package_modules() -> Modules:
    paths = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}
    return {name: Module(PurePosixPath(name), path.read_text()) for name, path in paths.items()}


def the_picture_has_every_package(modules: Modules) -> Iterator[str]:
    packages = {module.package for module in modules.values()} - APART
    for name in sorted(packages - set(HEIGHT)):
        yield f"{name} is not in the picture of docs/architecture.md: add it above all that it imports"
    for name in sorted(set(HEIGHT) - packages):
        yield f"{name} is in the picture of docs/architecture.md, but not in ci_eval/: remove it there"


def the_table_has_every_folder(modules: Modules) -> Iterator[str]:
    folders = {module.package for module in modules.values() if module.path.parent.name not in {"", *GROUPS}}
    for name in sorted(folders - set(TABLE)):
        yield f"{name}/ has no row in the table of docs/architecture.md: add what it holds and imports"
    for name in sorted(set(TABLE) - folders):
        yield f"{name}/ has a row in the table of docs/architecture.md, but is not in ci_eval/: remove the row"


def a_module_imports_only_from_the_lines_below(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        for name in sorted(module.packages):
            if HEIGHT.get(name, 0) >= HEIGHT.get(module.package, 0):
                yield (
                    f"{path} imports {name}, which is not below {module.package} in the picture of "
                    "docs/architecture.md: move the shared part to a package below both"
                )


def a_package_imports_the_packages_that_the_table_names(modules: Modules) -> Iterator[str]:
    for name, row in TABLE.items():
        importers: dict[str, str] = {}
        for path, module in modules.items():
            if module.package == name:
                importers |= dict.fromkeys(module.packages & set(TABLE) - EVERYWHERE, path)
        named = set(re.findall(r"`(\w+)`", row))
        for imported in sorted(set(importers) - named):
            yield (
                f"{importers[imported]} imports {imported}, which the row of {name}/ in docs/architecture.md does not "
                "name: do without, or add it to the row and give the reason in the commit"
            )
        for unused in sorted(named - set(importers)):
            yield f"{name}/ imports {unused} no longer: remove it from the row in docs/architecture.md"


def core_imports_no_plugin(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        if module.path.parts[0] == "core":
            for name in sorted(name for name in module.internal if name.split(".")[0] in OUTSIDE_CORE):
                yield f"{path} imports {name}: core finds plugins by `core/catalogs/`, or is given them"


def jobs_and_commands_find_variants_by_a_catalog(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        if module.path.parts[0] in {"api", "ci", "cli", "jobs"}:
            for name in sorted(
                name for name in module.internal if name.split(".")[1:2] and _package_of(name.split(".")) in KINDS
            ):
                yield f"{path} imports {name}: load it from its catalog in `core/catalogs/`"


def a_variant_of_several_files_imports_no_other(modules: Modules) -> Iterator[str]:
    # A module that holds no variant, by the table of its folder, serves several.
    shared = {f"plugins.languages.{name}" for name, variants in languages.TOGETHER.items() if not variants}
    for path, module in modules.items():
        if module.package in KINDS and len(module.path.parts) > 3:
            own = ".".join(module.path.parts[:3])
            kind = ".".join(module.path.parts[:2])
            for name in sorted(name for name in module.internal - shared if name.startswith(f"{kind}.")):
                if not f"{name}.".startswith(f"{own}."):
                    yield f"{path} imports {name}: a variant imports no other; move the shared part below {kind}"


def a_variant_imports_no_sibling(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        if module.path.parent.name in VARIANTS and module.path.stem != "__init__":
            folder = ".".join(module.path.parent.parts)
            for name in sorted(name for name in module.internal if f"{name}.".startswith(f"{folder}.")):
                yield f"{path} imports {name}: a variant imports no other; move the shared part out of {folder}"


def only_slow_libraries_are_imported_late(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        for name in sorted({name.partition(".")[0] for name, inner in module.imports if inner} - SLOW):
            yield (
                f"{path} imports {name} in a function or for type checking only: import it at the top of the file; "
                "where that makes a cycle, move the shared part to a package below both"
            )


def a_module_begins_with_a_docstring(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        if module.source and not module.docstring:
            yield f"{path} has no docstring: say in a sentence what it is"


def a_module_has_at_most_600_lines(modules: Modules) -> Iterator[str]:
    for path, module in modules.items():
        if module.lines > 600:
            yield f"{path} has {module.lines} lines: split it, 600 is the most"


def a_folder_has_at_most_20_modules(modules: Modules) -> Iterator[str]:
    sizes = Counter(module.path.parent for module in modules.values() if module.path.stem != "__init__")
    for folder, size in sizes.items():
        if size > 20 and folder.name not in VARIANTS:
            yield f"{folder}/ has {size} modules: put some in a folder of their own, 20 is the most but for variants"


def a_package_has_at_most_30_percent_of_the_lines(modules: Modules) -> Iterator[str]:
    lines: Counter[str] = Counter()
    for module in modules.values():
        lines[module.package] += module.lines
    for name, number in lines.items():
        if number > 0.3 * lines.total():
            yield f"{name} has {number / lines.total():.0%} of all lines: split it, 30% is the most"


VIOLATIONS: dict[Callable[[Modules], Iterator[str]], list[tuple[dict[str, str | None], str]]] = {
    the_picture_has_every_package: [
        ({"attic/box.py": ""}, "attic is not in the picture"),
        ({"core/filters.py": None}, "filters is in the picture"),
    ],
    the_table_has_every_folder: [
        ({"attic/box.py": ""}, "attic/ has no row"),
        ({path: None for path in package_modules() if path.startswith("plugins/exports/")}, "exports/ has a row"),
    ],
    a_module_imports_only_from_the_lines_below: [
        ({"fetch/box.py": "import ci_eval.cli.views"}, "fetch/box.py imports cli, which is not below fetch"),
        ({"fetch/box.py": "from ci_eval.core import grammar"}, "box.py imports grammar, which is not below fetch"),
        ({"jobs/box.py": "from ci_eval.plugins.drivers import asking"}, "imports drivers, which is not below jobs"),
    ],
    a_package_imports_the_packages_that_the_table_names: [
        ({"rendering/box.py": "def f():\n    import ci_eval.fetch"}, "box.py imports fetch, which the row"),
        (
            {path: "" for path in package_modules() if path.startswith("core/statistics/")},
            "statistics/ imports queries no longer",
        ),
    ],
    core_imports_no_plugin: [
        ({"core/base/box.py": "from ci_eval.plugins import tasks"}, "core/base/box.py imports plugins.tasks:"),
        ({"core/box.py": "from ci_eval.plugins.tasks.golf import TASK"}, "core/box.py imports plugins.tasks.golf:"),
        ({"core/box.py": "from ci_eval.rendering import advice"}, "core/box.py imports rendering.advice:"),
    ],
    jobs_and_commands_find_variants_by_a_catalog: [
        ({"jobs/box.py": "from ci_eval.plugins.engines.jedi import ENGINE"}, "box.py imports plugins.engines.jedi:"),
        ({"cli/box.py": "import ci_eval.plugins.reports.html"}, "cli/box.py imports plugins.reports.html:"),
    ],
    a_variant_of_several_files_imports_no_other: [
        ({"plugins/languages/cobol/box.py": "import ci_eval.plugins.languages.go"}, "imports plugins.languages.go:"),
        (
            {"plugins/languages/cobol/box.py": "from ci_eval.plugins.languages import go"},
            "imports plugins.languages.go",
        ),
    ],
    a_variant_imports_no_sibling: [
        (
            {"plugins/metrics/box.py": "from ci_eval.plugins.metrics.tokens import METRICS"},
            "imports plugins.metrics.to",
        ),
        (
            {"plugins/schemes/box.py": "from ci_eval.plugins.schemes import packages"},
            "imports plugins.schemes.pa",
        ),
    ],
    only_slow_libraries_are_imported_late: [
        ({"box.py": "try:\n    pass\nfinally:\n    def f():\n        import numpy.linalg"}, "box.py imports numpy in"),
        ({"box.py": "class C:\n    async def f(self):\n        from json import loads"}, "box.py imports json in"),
        ({"box.py": "if typing.TYPE_CHECKING:\n    from git import Repo\n    import re"}, "box.py imports re in"),
    ],
    a_module_begins_with_a_docstring: [({"box.py": "# A box.\nx = 1"}, "box.py has no docstring")],
    a_module_has_at_most_600_lines: [({"box.py": "\n" * 601}, "box.py has 601 lines")],
    a_folder_has_at_most_20_modules: [({f"attic/box{i}.py": "" for i in range(21)}, "attic/ has 21 modules")],
    a_package_has_at_most_30_percent_of_the_lines: [({"attic/box.py": "\n" * 10**5}, "attic has ")],
}
"""Rule → changes of the package that break it (path → source, None: removed), with a part of the message."""


@pytest.mark.parametrize("rule", VIOLATIONS, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Callable[[Modules], Iterator[str]]) -> None:
    violations = list(rule(package_modules()))
    assert not violations, "\n".join(violations)


IMPORT_CORE = """
import importlib, pkgutil, sys
import ci_eval.core
for module in pkgutil.walk_packages(ci_eval.core.__path__, "ci_eval.core."):
    importlib.import_module(module.name)
print(*[name for name in sys.modules if name.startswith("ci_eval.plugins")])
"""


def test_an_import_of_core_loads_no_plugin() -> None:
    # core/logs/arrow.py imports it.
    need_module("pyarrow")
    loaded = subprocess.run([sys.executable, "-c", IMPORT_CORE], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


@pytest.mark.parametrize("rule", VIOLATIONS, ids=lambda rule: rule.__name__)
def test_a_violation_breaks_the_rule(rule: Callable[[Modules], Iterator[str]]) -> None:
    for change, message in VIOLATIONS[rule]:
        changed = {path: Module(PurePosixPath(path), source) for path, source in change.items() if source is not None}
        modules = {path: module for path, module in package_modules().items() if path not in change} | changed
        (violation,) = rule(modules)
        assert message in violation
