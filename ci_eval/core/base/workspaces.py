"""The packages that a project itself contains. They are not looked up in registries, and engines see their source.

JavaScript packages (npm, pnpm, yarn) are found by `workspaces` in package.json, by pnpm-workspace.yaml, and by paths
among the dependencies. Python packages are found by `[tool.uv.workspace]`, and by paths in `[tool.uv.sources]`, in
Poetry's dependencies and in requirements. Other packages, such as those among test files, are ignored.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own, read_own

MAX_MEMBERS = 1_000
MANIFEST = "package.json"
PNPM = "pnpm-workspace.yaml"
NAME = re.compile(r"(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
PATH = re.compile(r"(?:file|link|portal):([^\x00]*)")
"""A version that is the path of a folder."""


def expand(root: Path, patterns: Iterable[str], manifest: str) -> list[Path]:
    """Return at most MAX_MEMBERS folders, sorted, that match the patterns and contain the manifest. Patterns that begin
    with `!` exclude folders."""
    named: list[set[Path]] = [set(), set()]
    for pattern in patterns:
        plain = pattern.removeprefix("!")
        # Ignore patterns that lead out of the project.
        if not plain.startswith("/") and ".." not in Path(plain).parts and plain.strip("./"):
            folders = (folder for folder in root.glob(plain) if "node_modules" not in folder.parts)
            members = (folder for folder in folders if is_own(folder / manifest, root))
            named[pattern.startswith("!")].update(islice(members, MAX_MEMBERS))
    return sorted(named[0] - named[1])[:MAX_MEMBERS]


def read_members(root: Path, sources: Iterable[Path] = ()) -> dict[str, Path]:
    """Return the JavaScript packages of the project: name in dependencies → folder. `sources`: further folders of
    packages. Raises PreparationError if a manifest cannot be read."""
    whole = _read(root, root / MANIFEST)
    spaces = whole.get("workspaces")
    patterns = spaces.get("packages") if isinstance(spaces, dict) else spaces
    patterns = [*texts(patterns), *texts(_read(root, root / PNPM).get("packages"))]
    # A member may name further folders, so `manifests` grows during the loop.
    manifests = list(dict.fromkeys([root, *expand(root, patterns, MANIFEST), *sources]))
    members: dict[str, Path] = {}
    for folder in manifests:
        manifest, name = _read(root, folder / MANIFEST), read_name(root, folder)
        if NAME.fullmatch(name) and (folder != root or patterns):
            members.setdefault(name, folder)
        needs = manifest.get("dependencies")
        for name, version in needs.items() if isinstance(needs, dict) else ():
            path = PATH.fullmatch(version) if isinstance(version, str) and NAME.fullmatch(name) else None
            place = find_inside(root, folder, path[1]) if path else None
            if place and is_own(place / MANIFEST, root) and "node_modules" not in place.parts:
                other = members.setdefault(name, place)
                if other not in manifests and len(manifests) < MAX_MEMBERS:
                    manifests.append(other)
    return members


def find_members(root: Path, sources: Iterable[Path] = ()) -> dict[str, Path]:
    with suppress(PreparationError):
        return read_members(root, sources)
    return {}


def read_name(root: Path, folder: Path) -> str:
    name = _read(root, folder / MANIFEST).get("name")
    return name if isinstance(name, str) else ""


def read_catalogs(root: Path) -> dict[str, dict[str, str]]:
    """Return the catalogs of pnpm: NAME in `catalog:NAME` → package → version. Raises PreparationError."""
    content = _read(root, root / PNPM)
    try:
        catalogs = {"": content.get("catalog", {}), **content.get("catalogs", {})}
        return msgspec.convert(catalogs, dict[str, dict[str, str]], strict=False)
    except (msgspec.MsgspecError, TypeError) as error:
        raise PreparationError(f"Cannot read the catalogs in {PNPM}: {error}") from error


def texts(value: Any) -> list[str]:
    """Return the items of a list that are texts; [] if the value is not a list."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _read(root: Path, path: Path, subject: str = "") -> dict[str, Any]:
    if not is_own(path, root):
        return {}
    decoders: dict[str, Callable[[bytes], Any]] = {".yaml": yaml.safe_load, ".toml": msgspec.toml.decode}
    decode = decoders.get(path.suffix, msgspec.json.decode)
    try:
        content = decode(read_own(root, str(path.relative_to(root))).removeprefix(codecs.BOM_UTF8))
    except (msgspec.MsgspecError, yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise PreparationError(f"Cannot read {subject}{path.relative_to(root)}: {error}") from error
    return content if isinstance(content, dict) else {}


def find_content(root: Path, path: Path) -> dict[str, Any]:
    """Return the content of a manifest; {} if the manifest does not exist or cannot be read."""
    with suppress(PreparationError):
        return _read(root, path)
    return {}


PYPROJECT = "pyproject.toml"
REQUIREMENTS = "requirements.txt"
BACKENDS = ("setuptools", "poetry", "pdm", "hatch", "maturin", "scikit-build", "uv")
FOLDER_KEYS = frozenset({"package-dir", "where", "from", "python-source", "module-root", "dev-mode-dirs", "sources"})
PACKAGE_KEYS = frozenset({"packages", "wheel.packages"})
"""Keys in tables of build backends: FOLDER_KEYS name folders that contain packages, PACKAGE_KEYS single packages."""
SETUPS = ("setup.cfg", "setup.py")
SETUP_FOLDER = re.compile(
    r"(?:package_dir\s*=\s*(?:\{\s*['\"]{2}\s*:\s*['\"]|=\s*)|\bwhere\s*=\s*['\"]?|find_packages\(\s*['\"])([\w./-]+)"
)
OF_THE_REGISTRY = frozenset({"version", "extras", "optional", "markers", "python", "platform", "allow-prereleases"})


class Layout(NamedTuple):
    members: dict[str, Path]
    """Normalized name of a package in the project → its folder."""
    elsewhere: dict[str, str]
    """Normalized name → source, for packages that come neither from the project nor from the usual registry."""
    roots: tuple[Path, ...]
    """The folders that an editable install of all packages would add to `sys.path`, except the project's root."""


def read_layout(root: Path) -> Layout:
    whole = read_pyproject(root / PYPROJECT, root)
    members: dict[str, Path] = {}
    elsewhere: dict[str, str] = {}
    if name := table(whole, "project").get("name"):
        members[normalize(str(name))] = root
    # A member may name further folders, so `manifests` grows during the loop.
    workspace = table(whole, "tool", "uv", "workspace")
    patterns = [*texts(workspace.get("members")), *(f"!{folder}" for folder in texts(workspace.get("exclude")))]
    manifests = [root, *expand(root, patterns, PYPROJECT)]
    for folder in manifests:
        manifest = whole if folder == root else read_pyproject(folder / PYPROJECT, root)
        if name := table(manifest, "project").get("name") or table(manifest, "tool", "poetry").get("name"):
            members.setdefault(normalize(str(name)), folder)
        lines = read_requirement_lines(root) if folder == root else []
        for name, source in _sources(manifest, lines):
            if "path" in source and (place := find_inside(root, folder, str(source["path"]))) and place.is_dir():
                members.setdefault(normalize(name), place)
                if members[normalize(name)] not in manifests and len(manifests) < MAX_MEMBERS:
                    manifests.append(members[normalize(name)])
            elif not OF_THE_REGISTRY.issuperset(source):
                elsewhere[normalize(name)] = ", ".join(f"{field} {value}" for field, value in source.items())
    roots = [place for folder in (root, *members.values()) for place in _package_folders(folder, root)]
    elsewhere = {name: source for name, source in elsewhere.items() if name not in members}
    return Layout(members, elsewhere, tuple(dict.fromkeys(place for place in roots if place != root)))


def source_roots(root: Path) -> tuple[Path, ...]:
    """Return `roots` of the layout. If the project's files cannot be read, return only the folder `src` (if any)."""
    with suppress(PreparationError):
        return read_layout(root).roots
    return (root / "src",) if (root / "src").is_dir() else ()


def read_pyproject(path: Path, root: Path) -> Any:
    """Return the content of a pyproject.toml; {} if it does not exist. Raises PreparationError if it is invalid."""
    return _read(root, path, "the dependencies in ")


def table(value: Any, *names: str) -> dict[str, Any]:
    """Return the nested table at these names; {} if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def normalize(name: str) -> str:
    """Return the normalized name of a Python package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def find_inside(root: Path, folder: Path, path: str) -> Path | None:
    """Return the place below `root` of a path relative to `folder`; None if the path is invalid or leads outside."""
    # A hostile name can hold a null character, or a link can lead to itself.
    with suppress(OSError, ValueError, RuntimeError):
        return root / (folder / path).resolve().relative_to(root.resolve())
    return None


def _package_folders(folder: Path, root: Path) -> list[Path]:
    tools = table(read_pyproject(folder / PYPROJECT, root), "tool")
    named = list(_name_folders({name: tools[name] for name in BACKENDS if name in tools}))
    for name in SETUPS:
        if is_own(folder / name, root):
            text = read_own(root, str((folder / name).relative_to(root))).decode(errors="replace")
            named += SETUP_FOLDER.findall(text)
    inside = [place for path in named if (place := find_inside(root, folder, path))]
    existing = [place for place in dict.fromkeys(inside) if place.is_dir()]
    return existing or [folder / "src" if (folder / "src").is_dir() else folder]


def _name_folders(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folders that contain packages, according to the tables of build backends."""
    tables = [settings]
    # Nested tables are appended during the loop.
    for key, value in (pair for fields in tables for pair in fields.items()):
        listed = texts([value] if isinstance(value, str) else value)
        if key in FOLDER_KEYS:
            yield from listed
        elif key in PACKAGE_KEYS:
            yield from (str(Path(path).parent) for path in listed)
        if key == "package-dir" and isinstance(value, dict):
            # The name "" maps to the folder that contains all packages.
            paths = ((name, path) for name, path in value.items() if isinstance(path, str))
            yield from (str(Path(path).parent) if name else path for name, path in paths)
        tables += (inner for inner in (value if isinstance(value, list) else [value]) if isinstance(inner, dict))


LOCAL = re.compile(
    r"(?:-e|--editable)?[ =]*(?:(?P<name>[A-Za-z0-9][\w.-]*)\s*@\s*)?(?:file:(?:///\$\{PROJECT_ROOT\}/)?)?"
    r"(?P<path>(?:\.{1,2}/)?[\w.-]+(?:/[\w.-]+)*)/?(?:\[[^\]]*\])?(?:#egg=(?P<egg>[\w.-]+))?\s*(?:;.*)?"
)
"""A requirement that is a folder: `-e ./core`, `core @ file:core`, or PDM's `-e file:///${PROJECT_ROOT}/core#egg=core`."""


INCLUDED = re.compile(r"(?:-r|--requirement)[ =]*(\S+)")
"""A line of requirements.txt that includes another file."""


def read_local(requirement: str) -> tuple[str, str] | None:
    """Return the name and the path of a requirement that is a folder; None for any other requirement."""
    match = LOCAL.fullmatch(requirement.strip())
    if not match or not (match["name"] or "/" in requirement or requirement.startswith("-")):
        return None
    name = match["name"] or match["egg"] or Path(match["path"]).name
    return (name, match["path"]) if name else None


def read_requirement_lines(root: Path, name: str = REQUIREMENTS) -> list[str]:
    """Return the requirements and `-e` lines in the project's requirements.txt, and in the project's files that it
    includes (`-r base.txt`); [] without that file."""
    lines: list[str] = []
    waiting, met = [find_inside(root, root, name)], set[Path]()
    while waiting:
        path = waiting.pop(0)
        if path is None or path in met or not is_own(path, root):
            continue
        met.add(path)
        content = read_own(root, str(path.relative_to(root)))
        # PowerShell's `pip freeze > requirements.txt` writes UTF-16.
        encoding = "utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        for line in content.decode(encoding, "replace").replace("\\\n", " ").splitlines():
            # Remove comments, and options such as --hash after a requirement.
            requirement = re.sub(r"(^|\s)#.*", "", line).partition(" --")[0].strip()
            if included := INCLUDED.fullmatch(requirement):
                waiting.append(find_inside(root, path.parent, included[1]))
            elif requirement and (requirement[0] != "-" or requirement.startswith(("-e", "--editable"))):
                lines.append(requirement)
    return lines


def _sources(manifest: Any, lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, source) of packages that do not come from the default registry. `lines`: further requirements."""
    poetry, project = table(manifest, "tool", "poetry"), table(manifest, "project")
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    groups.append(table(poetry, "dev-dependencies"))
    for sources in (table(manifest, "tool", "uv", "sources"), table(poetry, "dependencies"), *groups):
        for name, source in sources.items():
            # uv allows a list of sources for different platforms.
            for one in source if isinstance(source, list) else [source]:
                if isinstance(one, dict):
                    yield name, one
    extras = (table(project, "optional-dependencies"), table(manifest, "dependency-groups"))
    development = table(manifest, "tool", "pdm", "dev-dependencies")
    listed = [project.get("dependencies"), *(value for group in (*extras, development) for value in group.values())]
    for requirement in (*lines, *(text for requirements in listed for text in texts(requirements))):
        if local := read_local(requirement):
            yield local[0], {"path": local[1]}
