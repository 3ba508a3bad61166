"""The imports of JavaScript and TypeScript: reads `import { name } from "module"` and checks whether modules exist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.core.base.files import exists, is_own, read_own
from ci_eval.core.base.workspaces import MANIFEST, find_members, read_name, table, texts
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.grammar.imports import Exports, ReExportingModules
from ci_eval.core.import_syntax import Import, Imports, ImportSyntax, Origin, Project, keep_shared_names

_NAMES = r"\{(?P<names>[^{}]*)\}"
_FROM = r"from[ \t]*(?P<quote>[\"'])(?P<module>[^\"'\n]+)(?P=quote)"
_IMPORT = re.compile(
    rf"^import[ \t]+(?:type[ \t]+)?(?P<default>[\w$]+[ \t]*,[ \t]*)?({_NAMES})[ \t]*{_FROM}[ \t]*;?[ \t]*\n?",
    re.MULTILINE,
)
_PART = re.compile(r"[^,]+")
_NAME = re.compile(r"\s*(?:type\s+)?(?P<original>[\w$]+)(?:\s+as\s+(?P<alias>[\w$]+))?\s*")

_EXPORTED = re.compile(rf"^[ \t]*export[ \t]+(?:type[ \t]+)?({_NAMES})(?:[ \t]*{_FROM})?", re.MULTILINE)
_STAR = re.compile(r"^[ \t]*export[ \t]*\*[ \t]*from[ \t]*([\"'])(?P<module>[^\"'\n]+)\1", re.MULTILINE)
_DECLARED = re.compile(
    r"^[ \t]*export[ \t]+(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?(?:const[ \t]+enum|const|let|var|"
    r"function\*?|class|interface|type|enum|namespace)[ \t]+(?P<name>[\w$]+)",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"\.[cm]?js$")
"""The suffix of an imported script. In TypeScript, `import "./a.js"` may refer to the file `./a.ts`."""
_ENDS = ("", *".ts .tsx .d.ts .mts .cts .js .jsx .mjs .cjs /index.ts /index.js /index.d.ts".split())


def read(text: str) -> list[Import]:
    imports = [item for statement in _IMPORT.finditer(text) for item in _read_statement(statement)]
    return keep_shared_names(imports)


def _read_statement(statement: re.Match[str]) -> Iterator[Import]:
    begin = statement.start("names")
    # After a trailing comma, the last part is blank.
    parts = [part for part in _PART.finditer(statement["names"]) if part[0].strip()]
    names = [_NAME.fullmatch(part[0]) for part in parts]
    starts = [begin + part.end() - len(part[0].lstrip()) for part in parts]
    ends = [begin + part.start() + len(part[0].rstrip()) for part in parts]
    for index, name in enumerate(names):
        # A part with a comment does not match.
        if name is None:
            continue
        if len(parts) == 1:
            span = statement.span()
        else:
            span = (starts[index], starts[index + 1]) if index + 1 < len(parts) else (ends[index - 1], ends[index])
        removable = name["alias"] is None and None not in names and not (len(parts) == 1 and statement["default"])
        yield Import(name["alias"] or name["original"], statement["module"], name["original"], *span, removable)


class _Package(msgspec.Struct):
    """The fields of a project's `package.json`. `types` is the file that declares the exports of the package."""

    name: str = ""
    types: str = "index"


class ScriptModules(ReExportingModules):
    """The modules of a JavaScript or TypeScript project. Of other packages, only the names are known."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._package = _Package()
        # A project without a readable package.json cannot be imported by name.
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            self._package = msgspec.json.decode(read_own(self._root, "package.json"), type=_Package)

    def find(self, importing: Path, module: str) -> Path | None:
        name = self._package.name
        # The project's own name refers to its root.
        entry = self._package.types if name and module == name else module.removeprefix(f"{name}/" if name else "")
        base = (importing.parent if module.startswith(".") else self._root) / entry
        for stem in (str(base), _SCRIPT.sub("", str(base))):
            for end in _ENDS:
                if is_own(file := Path(stem + end), self._root):
                    return file.resolve()
        return None

    def read_exports(self, file: Path) -> Exports:
        try:
            text = read_text(self._root, str(file.relative_to(self._root)))
        except (NotText, OSError):
            text = ""
        imported = {item.name: (item.module, item.original) for item in read(text)}
        named: dict[str, Origin | None] = {}
        for statement in _EXPORTED.finditer(text):
            for name in map(_NAME.fullmatch, statement["names"].split(",")):
                if name:
                    original, module = name["original"], statement["module"]
                    source = (module, original) if module else imported.get(original)
                    named[name["alias"] or original] = source
        named |= dict.fromkeys(match["name"] for match in _DECLARED.finditer(text))
        return named, [match["module"] for match in _STAR.finditer(text)]


SYNTAX = ImportSyntax(read=read, modules=ScriptModules)


IMPORT = re.compile(r"\b(?:from|import|require)[ \t]*\(?[ \t]*([\"'])([^\"'\n]+)\1")
NODE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
"""The built-in modules of Node.js 20, as listed by `require("module").builtinModules`."""
SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".json", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".node")


JSON_COMMENT = re.compile(r'("(?:[^"\\]|\\.?)*(?:"|\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.DOTALL)
"""Matches strings, which are kept, and what tsconfig.json allows beyond JSON: comments and trailing commas."""


class _Paths:
    """The patterns of module names that refer to files of the project. A pattern and its targets may contain one `*`,
    which matches the same text in both. Like the compiler, this class reads the nearest tsconfig.json above
    a file, the files that tsconfig.json extends and references, and `imports` of the nearest package.json."""

    def __init__(self, root: Path, members: Mapping[str, Path]) -> None:
        self._root = root
        self._members = members
        self.of_folder = cache(self._of_folder)

    def _of_folder(self, folder: Path) -> dict[str, list[Path]]:
        config = self._nearest(folder, "tsconfig.json", "jsconfig.json")
        patterns = self._of_config(config, set()) if config else {}
        if manifest := self._nearest(folder, MANIFEST):
            patterns |= _make_targets(table(self._read(manifest), "imports"), manifest.parent)
        return patterns

    def _nearest(self, folder: Path, *names: str) -> Path | None:
        above = (place for place in (folder, *folder.parents) if place.is_relative_to(self._root))
        return next((place / name for place in above for name in names if is_own(place / name, self._root)), None)

    def _read(self, path: Path) -> dict[str, Any]:
        with suppress(OSError, msgspec.MsgspecError, ValueError, RecursionError):
            text = read_own(self._root, str(path.relative_to(self._root))).decode()
            # The second pass removes trailing commas that a comment separated from their bracket.
            for _ in range(2):
                text = JSON_COMMENT.sub(lambda match: match[1] or "", text)
            return table(msgspec.json.decode(text))
        return {}

    def _of_config(self, config: Path, seen: set[Path]) -> dict[str, list[Path]]:
        """Return the patterns in a configuration. `seen` has the files already read."""
        seen.add(config)
        content = self._read(config)
        extended, references, patterns = content.get("extends"), content.get("references"), dict[str, list[Path]]()
        others = [table(one).get("path") for one in references] if isinstance(references, list) else []
        for name in texts([*others, *(extended if isinstance(extended, list) else [extended])]):
            if (path := self._find_config(config.parent, name)) and path not in seen:
                patterns |= self._of_config(path, seen)
        options = table(content, "compilerOptions")
        base = options.get("baseUrl")
        named = table(options, "paths") | ({"*": ["*"]} if isinstance(base, str) else {})
        return patterns | _make_targets(named, config.parent / (base if isinstance(base, str) else ""))

    def _find_config(self, folder: Path, name: str) -> Path | None:
        """Return the file that `extends` or a reference names, by its path or by a package of the project."""
        package = next((member for member in self._members if name == member or name.startswith(f"{member}/")), "")
        place = self._members[package] if package else folder
        base = Path(os.path.normpath(place / name.removeprefix(package).lstrip("/" if package else "")))
        files = (base, Path(f"{base}.json"), base / "tsconfig.json")
        return next((file for file in files if file.is_relative_to(self._root) and is_own(file, self._root)), None)


def _make_targets(named: Mapping[str, Any], folder: Path) -> dict[str, list[Path]]:
    """Return the target files of each pattern. `named`: pattern → target, list of targets, or condition → target."""
    listed = {key: [*value.values()] if isinstance(value, dict) else value for key, value in named.items()}
    return {
        key: [folder / target for target in texts([value] if isinstance(value, str) else value)]
        for key, value in listed.items()
    }


def _is_script(file: Path) -> bool:
    stems = {file, file.with_name(_SCRIPT.sub("", file.name))} if file.name else {file}
    return exists(file) or any(exists(Path(f"{stem}{end}")) for stem in stems for end in SUFFIXES)


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. A package exists if its folder or the folder of its types is
    in a `node_modules`, or if it is a package of the project."""
    # A package may import itself by its own name.
    folders = find_members(root)
    members = {*folders, read_name(root, root)}
    paths = _Paths(root, folders)

    def is_path(name: str, folder: Path) -> bool:
        for pattern, targets in paths.of_folder(folder).items():
            before, star, after = pattern.partition("*")
            if name == pattern or (star and name.startswith(before) and name.endswith(after)):
                part = name[len(before) : len(name) - len(after)]
                if any(_is_script(Path(str(target).replace("*", part))) for target in targets):
                    return True
        return False

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        own_folder = (root / path).parent
        above = [folder for folder in (own_folder, *own_folder.parents) if folder.is_relative_to(root)]
        # Node.js searches the `node_modules` of each folder above the file.
        bases = (root, environment) if environment else (root,)
        homes = [base / folder.relative_to(root) / "node_modules" for base in bases for folder in above]
        for _, name in IMPORT.findall(text):
            if name.startswith("."):
                yield name, _is_script(own_folder / name)
                continue
            package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
            # DefinitelyTyped publishes the types of `@a/b` as `@types/a__b`.
            types = f"@types/{package.removeprefix('@').replace('/', '__')}"
            known = (
                package in members
                or name.startswith("node:")
                or name.partition("/")[0] in NODE
                or is_path(name, own_folder)
            )
            yield package, known or any(exists(home / folder) for home in homes for folder in (package, types))

    return there
