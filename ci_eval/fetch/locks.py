"""Read what a project requires from registries, and write manifests and locks for npm and go.

Clients know more ways to name an address than anybody could forbid. So clients never see a file of the project: they
read files that are written from checked names, versions and digests. Any other requirement raises an error.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own
from ci_eval.core.base.workspaces import (
    PYPROJECT,
    REQUIREMENTS,
    find_inside,
    normalize,
    read_catalogs,
    read_layout,
    read_local,
    read_pyproject,
    read_requirement_lines,
    table,
    texts,
)
from ci_eval.fetch.packages import NPM, NPM_NAME

# PEP 508 without `@ URL` and without rare forms. No two parts begin alike, so matching takes linear time.
PLAIN = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*[ \t]*"
    r"(?:\[[A-Za-z0-9._, \t-]*\][ \t]*)?"
    r"(?:[(<>=!~][A-Za-z0-9._*+!,<>=~() \t-]*)?"
    r"(?:;[^\x00-\x1f]*)?"
)
PINNED = re.compile(r"[A-Za-z0-9._-]+[ \t]*(?:\[[^\]]*\][ \t]*)?===?[ \t]*[^\s,*;]+[ \t]*(?:;.*)?")
EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
ITSELF = re.compile(r"(?:(?:-e|--editable)[ =]*)?\./?(?:\[[^\]]*\])?")
WHAT_NOW = (
    "Only packages from a registry are installed, since others would have to be built, which runs their code: set "
    "project.dependencies to false, or evaluate a copy of the project (path:…) that does not require the package."
)

Read = TypeVar("Read")


Groups = Literal["all"] | tuple[str, ...]
"""The groups and extras whose requirements are installed too."""


def read_python_requirements(root: Path, groups: Groups = ()) -> list[str]:
    """Return a Python project's requirements in the syntax of pip, without the project's own packages. They are read
    from the first of these files that exists: a wheel's metadata, pyproject.toml, requirements.txt.

    Raises PreparationError if a requirement is an address or a path, or if a group does not exist.
    """
    requirements, known = _find_python_requirements(root, groups)
    if groups != "all" and (unknown := {*map(normalize, groups)} - known):
        has = f"has {', '.join(sorted(known))}" if known else "has no groups"
        raise PreparationError(f"`project.dependencyGroups` names {min(unknown)!r}, but the project {has}")
    layout = read_layout(root)
    folders = {root, *layout.members.values()}
    plain = [
        (file, text.strip())
        for file, text in requirements
        if not (local := read_local(text))
        or not any(find_inside(root, folder, local[1]) in folders for folder in folders)
    ]
    if wrong := [(text, file) for file, text in plain if not PLAIN.fullmatch(text)]:
        raise foreign(*wrong[0])
    named = [(normalize(name_of(text)), text, file) for file, text in plain]
    for name, text, file in named:
        # The project takes this package from elsewhere. Anybody could publish another of that name in a registry.
        if name in layout.elsewhere:
            raise foreign(f"{text} from {layout.elsewhere[name]}", file)
    return list(dict.fromkeys(text for name, text, _ in named if name not in layout.members))


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def is_pinned(root: Path) -> bool:
    requirements, _ = _find_python_requirements(root, ())
    return bool(requirements) and all(PINNED.fullmatch(requirement) for _, requirement in requirements)


def find_python_groups(root: Path) -> set[str]:
    return _find_python_requirements(root, ())[1]


def _find_python_requirements(root: Path, groups: Groups) -> tuple[list[tuple[str, str]], set[str]]:
    """Return (file, requirement) pairs, and the names of all groups."""
    metadata = next((path for path in sorted(root.glob("*.dist-info/METADATA")) if is_own(path, root)), None)
    if metadata:
        head = metadata.read_text(errors="replace").partition("\n\n")[0].splitlines()
        requirements = [line.partition(":")[2].strip() for line in head if line.startswith("Requires-Dist:")]
        known = {normalize(name) for requirement in requirements for name in EXTRA.findall(requirement)}
        chosen = known if groups == "all" else {*map(normalize, groups)}
        # pip would skip the requirements of extras. So each condition on a chosen extra is replaced by a condition that
        # is always true.
        met = [
            EXTRA.sub(lambda part: 'python_version >= "3"' if normalize(part[1]) in chosen else part[0], text)
            for text in requirements
        ]
        return [(metadata.name, text) for text in met if not EXTRA.search(text)], known
    if is_own(root / PYPROJECT, root):
        manifests = dict.fromkeys((root, *read_layout(root).members.values()))
        read = [_read_pyproject(folder / PYPROJECT, root, groups) for folder in manifests]
        own = [(PYPROJECT, text) for requirements, _ in read for text in requirements]
        return [*own, *_read_requirements(root)], {name for _, names in read for name in names}
    return _read_requirements(root), set()


def _read_requirements(root: Path) -> list[tuple[str, str]]:
    """Return the requirements in requirements.txt, or in the files that `dynamic` dependencies name, as pairs; [] if
    pyproject.toml lists the dependencies. Without a package, pyproject.toml has only settings of tools."""
    manifest = read_pyproject(root / PYPROJECT, root)
    project = table(manifest, "project")
    if (project or table(manifest, "tool", "poetry")) and "dependencies" not in texts(project.get("dynamic")):
        return []
    named = table(manifest, "tool", "setuptools", "dynamic", "dependencies").get("file", REQUIREMENTS)
    files = [named] if isinstance(named, str) else texts(named)
    return [(file, line) for file in files for line in read_requirement_lines(root, file) if not ITSELF.fullmatch(line)]


def foreign(requirement: str, file: str) -> PreparationError:
    return PreparationError(f"{file} of the project requires {requirement[:200]!r}, which no registry has. {WHAT_NOW}")


def _read_pyproject(path: Path, root: Path, groups: Groups) -> tuple[list[str], set[str]]:
    manifest = read_pyproject(path, root)
    project = table(manifest, "project")
    poetry = table(manifest, "tool", "poetry")
    groups_of_poetry = {"dev": poetry.get("dev-dependencies")} | {
        name: table(group).get("dependencies") for name, group in table(poetry, "group").items()
    }
    named = {
        **{name: list(_convert_poetry(table(needs))) for name, needs in groups_of_poetry.items() if needs},
        **table(project, "optional-dependencies"),
        **table(manifest, "dependency-groups"),
    }
    own = project.get("dependencies", list(_convert_poetry(table(poetry, "dependencies"))))
    known = {normalize(name): requirements for name, requirements in named.items()}
    waiting = ["", *(known if groups == "all" else map(normalize, groups))]
    texts: list[str] = []
    try:
        for name in waiting:
            requirements = known.get(name, []) if name else own
            for text in msgspec.convert(requirements, list[str | dict[str, str]]):
                if isinstance(text, str):
                    texts.append(text)
                elif (included := normalize(text.get("include-group", ""))) not in waiting:
                    waiting.append(included)
    except msgspec.MsgspecError as error:
        raise PreparationError(f"Cannot read the dependencies in {path.relative_to(root)}: {error}") from error
    return texts, set(known)


def _convert_poetry(dependencies: Mapping[str, Any]) -> Iterator[str]:
    """Yield Poetry's dependencies in the syntax of pip, without optional ones and Python itself. If Poetry lists
    several versions or alternatives, any version is allowed."""
    for name, given in dependencies.items():
        version, fields = (given, {}) if isinstance(given, str) else (table(given).get("version"), table(given))
        if normalize(name) == "python" or fields.get("optional"):
            continue
        extras = ",".join(texts(fields.get("extras")))
        markers = [f"({fields['markers']})"] if "markers" in fields else []
        for limit in _convert_limits(fields.get("python")):
            # `python_version` has two numbers, such as 3.11.
            variable = "python_full_version" if re.search(r"\d\.\d+\.\d", limit) else "python_version"
            markers.append(re.sub(r"(\W*)(.+)", rf"{variable} \1 '\2'", limit))
        markers += [f"sys_platform == '{fields['platform']}'"] if "platform" in fields else []
        limits = ",".join(_convert_limits(version))
        condition = f"; {' and '.join(markers)}" if markers else ""
        yield f"{name}{f'[{extras}]' if extras else ''}{limits}{condition}"


def _convert_limits(version: object) -> list[str]:
    """Return the specifiers (PEP 440) for Poetry's limits of a version; [] if any version is allowed."""
    if not isinstance(version, str) or "|" in version:
        return []
    # Both a comma and a space mean "and", but a space may also follow an operator.
    parts = re.findall(r"[<>=!~^]*\s*[^\s,<>=!~^]+", version)
    return [limit for part in parts for limit in _convert_version(re.sub(r"\s", "", part)).split(",") if limit]


def _convert_version(version: str) -> str:
    """Return the specifier (PEP 440) for Poetry's `^1.2`, `~1.2` or `1.2`; "" allows any version."""
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[a-z+-]", version.lower())[0])]
    if version[:1] not in {"^", "~"} or version.startswith("~=") or not numbers:
        return "" if version == "*" else f"=={version}" if version[:1].isdigit() else version
    # For `^`, the upper limit increases the first number that is not 0; for `~`, the second number.
    kept = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
    kept = kept if version[0] == "^" else min(1, len(numbers) - 1)
    return f">={version[1:].removesuffix('.*')},<{'.'.join(map(str, [*numbers[:kept], numbers[kept] + 1]))}"


def read_json(path: Path, kind: type[Read]) -> Read:
    try:
        return msgspec.json.decode(path.read_bytes().removeprefix(codecs.BOM_UTF8), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise PreparationError(f"Cannot read {path.name} of {path.parent.name}: {error}") from error


# --------------------------------------------------------------------------------------------------------------- npm

LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
"""The names of npm's locks; npm reads the first that exists."""
NPM_REGISTRY = "registry.npmjs.org"
"""The host of the registry in locks. npm replaces it by the registry in the user's settings."""
ALIAS = re.compile(r"npm:(?P<name>(?:@[\w.~-]+/)?[\w.~-]+)(?:@|\Z)", re.ASCII)
RANGE = re.compile(r"(?!\.)[\w.*+<>=~^| -]{0,1000}(?<!\.tgz|\.tar)(?<!\.tar\.gz)", re.ASCII)
ADDRESS = re.compile(r"https?://(?P<host>[A-Za-z0-9.-]+)(?::\d+)?/[^\\\s]*", re.ASCII)
DIGESTS = re.compile(r"sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2}(?: +sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2})*")
LOCATION = re.compile(rf"(?P<parent>(?:node_modules/{NPM_NAME.pattern}/)*)node_modules/(?P<name>{NPM_NAME.pattern})")
PLACE = re.compile(r"(?![.-])[\w.@+-]+(?:/(?![.-])[\w.@+-]+)*", re.ASCII)
PLATFORM = re.compile(r"!?[a-z0-9_]+")


class _Locked(msgspec.Struct, rename="camel"):
    name: str = ""
    version: str = ""
    resolved: str | bool = ""
    integrity: str = ""
    link: bool = False
    optional: bool = False
    in_bundle: bool = False
    bundled: bool = False
    dependencies: dict[str, _Locked | str] = {}
    optional_dependencies: dict[str, str] = {}
    peer_dependencies: dict[str, str] = {}
    requires: dict[str, str] | bool = False
    os: list[str] = []
    cpu: list[str] = []
    libc: list[str] = []


class _Lock(msgspec.Struct):
    packages: dict[str, _Locked] = {}
    dependencies: dict[str, _Locked] = {}


class _Manifest(msgspec.Struct, rename="camel"):
    dependencies: dict[str, str] = {}
    optional_dependencies: dict[str, str] = {}
    peer_dependencies: dict[str, str] = {}
    dev_dependencies: dict[str, str] = {}


def has_development(root: Path) -> bool:
    manifest = root / "package.json"
    return is_own(manifest, root) and bool(read_json(manifest, _Manifest).dev_dependencies)


def _read_manifest(path: Path, groups: Groups) -> _Manifest:
    manifest = read_json(path, _Manifest)
    if groups != "all" and (unknown := {*groups} - {"dev"}):
        raise PreparationError(f"`project.dependencyGroups` names {min(unknown)!r}, but npm only has the group dev")
    development = manifest.dev_dependencies if groups else {}
    return msgspec.structs.replace(manifest, dependencies=development | manifest.dependencies)


def read_npm_ranges(
    manifest: Path,
    members: Collection[str] = (),
    catalogs: Mapping[str, Mapping[str, str]] | None = None,
    groups: Groups = (),
) -> dict[str, str]:
    """Return the version ranges in a package.json, by package. `members`, the project's own packages, are excluded, as
    are packages for development unless `groups` has `dev`. Raises PreparationError."""
    ranges: dict[str, str] = {}
    for name, versions in _read_manifest(manifest, groups).dependencies.items():
        if name in members:
            continue
        catalog = versions.removeprefix("catalog:") if versions.startswith("catalog:") else None
        catalog = "" if catalog == "default" else catalog
        ranges[name] = versions if catalog is None else (catalogs or {}).get(catalog, {}).get(name, versions)
        if not NPM_NAME.fullmatch(name) or not RANGE.fullmatch(ALIAS.sub("", ranges[name], count=1)):
            raise foreign(f"{name}@{versions}", manifest.name)
    return ranges


def write_npm_manifests(root: Path, members: Mapping[str, Path], folder: Path, groups: Groups = ()) -> None:
    """Write below `folder` a package.json for the project and for each of its packages. It has the version ranges of
    what is needed from a registry. npm links the packages with each other. Raises PreparationError."""
    catalogs = read_catalogs(root)
    places = _check_members(root, members)
    for place, name in {"": "", **places}.items():
        needs = read_npm_ranges(root / place / "package.json", members, catalogs, groups)
        # The manifests have no devDependencies, since npm looks these up even with --omit=dev.
        written = {"name": name, "version": "0.0.0"} if place else {"private": True, "workspaces": [*places]}
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "package.json").write_bytes(msgspec.json.encode(written | {"dependencies": needs}))


def _check_members(root: Path, members: Mapping[str, Path]) -> dict[str, str]:
    """Return the names of the packages below the root, by folder. Raises PreparationError for unusual names."""
    places = {path.relative_to(root).as_posix(): name for name, path in members.items() if path != root}
    for place, name in places.items():
        # npm reads each folder in `workspaces` as a pattern.
        if not PLACE.fullmatch(place):
            raise foreign(f"{name} in {place}", "package.json")
    return places


def write_npm_lock(
    manifest: Path,
    lock: Path,
    folder: Path,
    hosts: Collection[str],
    members: Mapping[str, Path] | None = None,
    groups: Groups = (),
) -> None:
    """Write to `folder` a package.json and a package-lock.json that install the same packages as the project's own.
    Packages for development are excluded unless `groups` has `dev`. `hosts` are the hosts of npm's registries; a lock
    may name only these and NPM_REGISTRY. `members` are the folders of the project's own packages, which are linked.
    Raises PreparationError."""
    content = read_json(lock, _Lock)
    entries = content.packages or dict(_flatten(content.dependencies))
    root: dict[str, object] = {"name": "dependencies", "version": "0.0.0", "private": True}
    places = _check_members(manifest.parent, members or {})
    packages: dict[str, dict[str, object]] = {"": root}
    packages |= {place: {"name": name, "version": "0.0.0"} for place, name in places.items()}
    if places:
        root["workspaces"] = [*places]
        packages |= {f"node_modules/{name}": {"resolved": place, "link": True} for place, name in places.items()}
    asking = {place: _read_manifest(manifest.parent / place / manifest.name, groups) for place in ("", *places)}
    # Each package requires the exact versions that the lock has in that package's folder, so npm looks up no range.
    for location, entry in sorted(_find_entries(asking, members or {}, entries, lock.name).items()):
        place = next((place for place in places if location.startswith(f"{place}/node_modules/")), "")
        match = LOCATION.fullmatch(location.removeprefix(f"{place}/"))
        own = match["name"] if match else ""
        fields: dict[str, object] = {"name": entry.name or own, "version": entry.version, "integrity": entry.integrity}
        systems = {"os": entry.os, "cpu": entry.cpu, "libc": entry.libc}
        source = "" if isinstance(entry.resolved, bool) else entry.resolved
        address = ADDRESS.fullmatch(source)
        if (
            match is None
            or not NPM.fullmatch(f"{fields['name']}@{entry.version}")
            or (entry.integrity and not DIGESTS.fullmatch(entry.integrity))
            or (source and not (address and address["host"].lower() in {NPM_REGISTRY, *hosts}))
            or not all(PLATFORM.fullmatch(system) for names in systems.values() for system in names)
        ):
            raise foreign(f"{location}: {fields['name']}@{entry.version} from {source or 'a registry'}", lock.name)
        fields |= {"optional": entry.optional, **systems}
        packages[location] = {field: value for field, value in fields.items() if value}
        kind = "optionalDependencies" if entry.optional else "dependencies"
        parent = match["parent"].rstrip("/")
        asked = packages[f"{place}/{parent}".strip("/")].setdefault(kind, {})
        assert isinstance(asked, dict)
        asked[own] = entry.version if fields["name"] == own else f"npm:{fields['name']}@{entry.version}"
    document = {"name": "dependencies", "version": "0.0.0", "lockfileVersion": 3, "requires": True}
    for place in ("", *places):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "package.json").write_bytes(msgspec.json.encode(packages[place]))
    (folder / "package-lock.json").write_bytes(msgspec.json.encode(document | {"packages": packages}))


def _flatten(entries: Mapping[str, _Locked | str]) -> Iterator[tuple[str, _Locked]]:
    waiting = [("", entries)]
    while waiting:
        parent, inside = waiting.pop()
        for name, entry in inside.items():
            if isinstance(entry, _Locked):
                location = f"{parent}node_modules/{name}"
                waiting.append((f"{location}/", entry.dependencies))
                alias = ALIAS.match(entry.version)
                needs = entry.requires if isinstance(entry.requires, dict) else {}
                changed = {"version": entry.version[alias.end() :], "name": alias["name"]} if alias else {}
                yield location, msgspec.structs.replace(entry, dependencies=needs, **changed)


def _find_entries(
    manifests: Mapping[str, _Manifest], members: Collection[str], entries: Mapping[str, _Locked], file: str
) -> dict[str, _Locked]:
    """Return the lock's entries that the manifests (folder → package.json) need, directly or not. Links to the
    project's own folders are excluded, as are packages that are bundled in another package's archive."""
    met: dict[str, _Locked] = {}
    waiting: list[tuple[str, _Manifest | _Locked]] = [*manifests.items()]
    while waiting:
        parent, asking = waiting.pop()
        optional = asking.optional_dependencies | asking.peer_dependencies
        for name in {**asking.dependencies, **optional}:
            if parent in manifests and name in members:
                continue
            # Node looks for a package in this folder, then in the folders above.
            above = [parent[:end] for end in range(len(parent), 0, -1) if parent[end : end + 1] in ("", "/")]
            locations = (f"{folder}/node_modules/{name}".lstrip("/") for folder in (*above, ""))
            location = next((location for location in locations if location in entries), None)
            if location is None and name not in optional:
                raise PreparationError(f"{file} of the project has no {name[:200]!r}: is it up to date? {WHAT_NOW}")
            if location and location not in met and not entries[location].link:
                met[location] = entries[location]
                waiting.append((location, entries[location]))
    return {location: entry for location, entry in met.items() if not (entry.in_bundle or entry.bundled)}


# ---------------------------------------------------------------------------------------------------------------- go

_PATH = r"[A-Za-z0-9][A-Za-z0-9._~-]*(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*"
_VERSION = r"v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+incompatible)?"
GO_LINES = {
    "module": re.compile(_PATH, re.ASCII),
    "go": re.compile(r"\d+\.\d+(?:\.\d+)?(?:(?:rc|beta)\d+)?", re.ASCII),
    "require": re.compile(rf"{_PATH} {_VERSION}", re.ASCII),
    "exclude": re.compile(rf"{_PATH} {_VERSION}", re.ASCII),
    "replace": re.compile(
        rf"{_PATH}(?: {_VERSION})? => (?:{_PATH} {_VERSION}|\.\.?(?:/[A-Za-z0-9._~-]+)*/?)", re.ASCII
    ),
    "use": re.compile(r"[A-Za-z0-9._~/-]+", re.ASCII),
}
"""The valid forms of those lines in go.mod and go.work that determine the modules. Other lines are not copied."""
GO_SUM = re.compile(rf"{_PATH} {_VERSION}(?:/go\.mod)? h1:[A-Za-z0-9+/]{{43}}=", re.ASCII)


def write_go_modules(root: Path, folder: Path) -> None:
    """Write into `folder` the checked lines of a project's go.mod and go.sum, and of the go.mod of each module that a
    `replace` or go.work names. The module at the root requires the modules of go.work and replaces them by their
    folders, so that no registry is asked for them. Raises PreparationError."""
    used = []
    for line in _read_go_mod(root / "go.work") if is_own(root / "go.work", root) else ():
        if line.startswith("use "):
            module = Path(os.path.normpath(root / line.removeprefix("use ")))
            if not (module.is_relative_to(root) and is_own(module / "go.mod", root)):
                raise foreign(line, "go.work")
            used += [module] if module != root else []
    sums = [*(module / "go.sum" for module in (root, *used)), root / "go.work.sum"]
    waiting, met = [root, *used], {root, *used}
    while waiting:
        module = waiting.pop()
        is_joined = module == root and is_own(root / "go.work", root)
        lines = _join_modules(root, used) if is_joined else list(_read_go_mod(module / "go.mod"))
        copy = folder / module.relative_to(root)
        copy.mkdir(parents=True, exist_ok=True)
        (copy / "go.mod").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for line in lines:
            local = re.search(r"=> (\.\S*)$", line)
            other = Path(os.path.normpath(module / local[1])) if local else module
            # The replacement must be below the root, and so must the go.mod that a symbolic link there leads to.
            if local and not (other.is_relative_to(root) and is_own(other / "go.mod", root)):
                raise foreign(line, "go.mod")
            waiting += [] if other in met else [other]
            met.add(other)
    texts = [path.read_text("utf-8", "replace") for path in sums if is_own(path, root)]
    known = dict.fromkeys(line for text in texts for line in text.splitlines() if line)
    if wrong := next((line for line in known if not GO_SUM.fullmatch(line)), ""):
        raise foreign(wrong, "go.sum")
    if known:
        (folder / "go.sum").write_text("".join(f"{line}\n" for line in known), encoding="utf-8")


def _join_modules(root: Path, used: Sequence[Path]) -> list[str]:
    joined = {"module": "module workspace"}
    for file in (root / "go.work", root / "go.mod", *(module / "go.mod" for module in used)):
        for line in _read_go_mod(file) if is_own(file, root) else ():
            verb, _, text = line.partition(" ")
            what, _, target = text.partition(" => ")
            if verb == "replace":
                target = f"./{os.path.relpath(file.parent / target, root)}" if target.startswith(".") else target
                joined.setdefault(f"replace {what.split()[0]}", f"replace {what} => {target}")
            elif verb == "module" and file.parent != root:
                joined[line] = f"require {text} v0.0.0"
                joined.setdefault(f"replace {text}", f"replace {text} => ./{file.parent.relative_to(root).as_posix()}")
            elif verb in ("go", "module"):
                joined[verb] = line
            elif file == root / "go.mod":
                joined[line] = line
    return [*joined.values()]


def _read_go_mod(path: Path) -> Iterator[str]:
    block = ""
    for text in path.read_text("utf-8", "replace").splitlines():
        words = [word.strip('"`') for word in text.partition("//")[0].replace("(", " ( ").split()]
        if block and words == [")"]:
            block = ""
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        elif words:
            verb, *arguments = [block, *words] if block else words
            line = " ".join([verb, *arguments])
            if verb in GO_LINES and not GO_LINES[verb].fullmatch(" ".join(arguments)):
                raise foreign(line, path.name)
            yield from [line] if verb in GO_LINES else []
