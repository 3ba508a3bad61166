"""Installs jars from Maven Central and the jars that they need at run time, for engines and for evaluated projects.

The dependencies of a project and its modules are written into a POM of ours: Maven sees no file of the project.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

import msgspec

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.base.workspaces import MAX_MEMBERS
from ci_eval.fetch.clients import run_client
from ci_eval.fetch.download import hash_file
from ci_eval.fetch.locks import foreign
from ci_eval.fetch.packages import UNKNOWN, check_maven, run_mvn
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import IntoCache, plain

# The version is pinned, since Maven would otherwise take the newest one.
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
FOLDER = "jars"
DRIVER = "driver"


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    file: Path
    compiler: str  # the main class
    options: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Maven(IntoCache):
    artifact: str  # GROUP:NAME
    version: str
    others: Mapping[str, str] = field(default_factory=dict)
    """Artifacts that `artifact` needs but does not declare: GROUP:NAME → version."""
    driver: Driver | None = None
    source: str = "Maven Central"
    needs: tuple[str, ...] = ("mvn", "java")

    def name(self, version: str) -> str:
        # A changed driver must be compiled again, into a new folder.
        driver = f"-{hash_file(self.driver.file)[:12]}" if self.driver else ""
        return f"{plain(self.artifact)}-{version}{driver}"

    def install(self, version: str, _folder: Path, new: Path) -> Mapping[str, str]:
        # Maven resolves these artifacts together with the main one, so that versions agree.
        others = [f"{name}:{number}" for name, number in self.others.items()]
        packages = resolve(f"{self.artifact}:{version}", new, others=others)
        if driver := self.driver:
            jars = classpath(list_jars(new))
            compiler = ("java", "-cp", jars, driver.compiler, *driver.options)
            (new / DRIVER).mkdir()
            run_client((*compiler, "-cp", jars, "-d", DRIVER, str(driver.file)), cwd=new)
        return packages


def resolve(coordinates: str, folder: Path, *, others: Sequence[str] = (), itself: bool = True) -> dict[str, str]:
    """Copy jars into `folder`/jars: `others`, all jars that `others` and GROUP:NAME:VERSION need at run time, and (if
    `itself`) the jar of GROUP:NAME:VERSION. Returns GROUP:NAME → version. Raises ConfigError or InstallError."""
    artifacts = [check_maven(artifact).group("group", "name", "version") for artifact in (coordinates, *others)]
    jars = copy_jars(_write([dict(zip(COORDINATES, artifact, strict=True)) for artifact in artifacts]), folder)
    if itself and not jars:
        raise InstallError(f"{coordinates} has no jar. Check group, name and version.")
    if not itself:
        own = ":".join(artifacts[0][:2])
        # Maven excludes only by name, so it would also exclude artifacts of the same name in other groups.
        for path in [path for path, (name, _) in jars.items() if name == own]:
            path.unlink()
            del jars[path]
    return dict(jars.values())


def copy_jars(needs: str, folder: Path) -> dict[Path, tuple[str, str]]:
    """Copy the jars that the POM elements `needs` require. Returns path → GROUP:NAME, version. Raises InstallError."""
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>ci-eval</groupId><artifactId>jars</artifactId>"
        "<version>0</version><packaging>pom</packaging>"
        f"{needs}</project>\n"
    )
    # Without this empty folder, mvn would take options and extensions from a .mvn folder above.
    (folder / ".mvn").mkdir()
    # With `useRepositoryLayout`, the path of a jar contains its group, name and version.
    (folder / "settings.xml").write_text(_write_settings(), encoding="utf-8")
    options = ("-gs", "settings.xml", "-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true")
    try:
        trouble = run_mvn(COPY, *options, f"-DoutputDirectory={FOLDER}", here=folder)
    finally:
        # The settings may contain passwords, and engines can read this folder.
        (folder / "settings.xml").unlink()
    if trouble:
        hint = "Check group, name and version." if UNKNOWN.search(trouble) else "Check Maven's settings.xml."
        raise InstallError(f"mvn failed:\n{trouble}\n{hint}")
    parts = {path: path.relative_to(folder / FOLDER).parts for path in list_jars(folder)}
    return {path: (f"{'.'.join(group)}:{name}", version) for path, (*group, name, version, _) in parts.items()}


def _write_settings() -> str:
    """Return the settings of the installed Maven, changed so that Maven uses only Maven Central and the repositories in
    these settings and the user's. A repository that only the POM of a dependency names seems empty."""
    program = Path(shutil.which("mvn") or "mvn").resolve()
    paths = (program.parents[1] / "conf" / "settings.xml", Path.home() / ".m2" / "settings.xml")
    texts = [path.read_text("utf-8", "replace") if path.is_file() else "<settings></settings>" for path in paths]
    known = "".join(f",!{name}" for name in re.findall(r"<id>\s*([\w.-]+)\s*</id>", "".join(texts)))
    mirror = f"<mirror><id>ci-eval</id><mirrorOf>*,!central{known}</mirrorOf><url>file:///dev/null/none</url></mirror>"
    shared = re.sub(r"<!--.*?-->", "", texts[0], flags=re.DOTALL)
    # The first mirror that fits wins, and Maven refuses a second element `mirrors`.
    if "</mirrors>" in shared:
        return shared.replace("</mirrors>", f"{mirror}</mirrors>")
    return shared.replace("</settings>", f"<mirrors>{mirror}</mirrors></settings>")


def list_jars(folder: Path | None) -> list[Path]:
    return sorted((folder / FOLDER).rglob("*.jar")) if folder else []


def libraries(place: Place, standard: str) -> list[Path]:
    """Return the project's jars. If the library `standard`, such as "kotlin-stdlib", is not among them, the engine's
    jar of that library is added."""
    own = list_jars(place.environment)
    if any(path.name.startswith(f"{standard}-") for path in own):
        return own
    return [*own, *(path for path in list_jars(place.folder) if path.name.startswith(f"{standard}-"))]


def classpath(paths: list[Path]) -> str:
    return os.pathsep.join(map(str, paths))


def java(place: Place) -> list[str]:
    # Without -Xmx, the heap is a quarter of the machine's memory. Classes and compiled code are outside of the heap.
    heap = [f"-Xmx{place.memory // 4 * 3}"] if place.memory else []
    # Java writes performance data to /tmp, whatever its temporary folder is.
    return ["java", *heap, f"-Djava.io.tmpdir={place.scratch}", "-XX:-UsePerfData"]


def java_command(place: Place, main: str, *arguments: str) -> list[str]:
    jars = classpath([place.folder / DRIVER, *list_jars(place.folder)])
    return [*java(place), "-cp", jars, main, *arguments]


def source_roots(root: Path, suffix: str, package_of: Callable[[str], str | None]) -> list[Path]:
    """Return the sorted folders in which packages begin: `src/main/java` for `src/main/java/a/b/C.java` in the package
    `a.b`. Files in folders that do not match their package are ignored.

    `package_of`: takes a file's text and returns its package, "" for the unnamed package, or None to ignore the file.
    """
    roots = set()
    for path in (candidate for candidate in root.rglob(f"*{suffix}") if is_own(candidate, root)):
        package = package_of(path.read_text(errors="replace"))
        parts, folders = tuple(package.split(".")) if package else (), path.parent.parts
        begin = len(folders) - len(parts)
        if package is not None and folders[begin:] == parts:
            roots.add(Path(*folders[:begin]))
    # If a package has more parts than there are folders below the root, the folder is above the root.
    return sorted(folder for folder in roots if folder.is_relative_to(root))


# -------------------------------------------------------------------------------------------------------------- POMs

COORDINATES = ("groupId", "artifactId", "version")
FIELDS = (*COORDINATES, "type", "classifier", "scope")
VALUE = re.compile(r"(?:[A-Za-z0-9_.,+()\[\]-]|\$\{[A-Za-z0-9_.-]+\})+")
"""Matches values that contain no address, no path, and no character that XML escapes."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
OWN = re.compile(r"\$\{(?:project|pom)\.(?:parent\.)?(groupId|artifactId|version)\}")
PARENT = "{*}parent"
MANAGED = "{*}dependencyManagement/{*}dependencies/{*}dependency"
NEEDED = "{*}dependencies/{*}dependency"


def read_needs(root: Path) -> str:
    """Return the XML of the properties, managed versions and dependencies of the project and all its modules, except
    test dependencies and the modules themselves. Raises PreparationError."""
    # If a module does not name its group or version, the parent's counts.
    poms = [(pom, _fields(pom, COORDINATES, f"{PARENT}/") | _fields(pom, COORDINATES)) for pom in _read_poms(root)]
    members = {(own.get("groupId"), own.get("artifactId")) for _, own in poms}
    properties: dict[str, str] = {}
    artifacts: dict[str, dict[tuple[str | None, ...], dict[str, str]]] = {PARENT: {}, MANAGED: {}, NEEDED: {}}
    for pom, own in poms:
        for element in pom.iterfind("{*}properties/*"):
            name, value = element.tag.rpartition("}")[2], _fill(element.text or "", own)
            if NAME.fullmatch(name) and VALUE.fullmatch(value):
                properties.setdefault(name, value)
        for path, known in artifacts.items():
            for element in pom.iterfind(path):
                artifact = {name: _fill(text, own) for name, text in _fields(element, FIELDS).items()}
                key = tuple(map(artifact.get, ("groupId", "artifactId", "type", "classifier")))
                if key[:2] not in members and artifact.get("scope") != "test":
                    known.setdefault(key, artifact)
    # A parent POM from a registry could load extensions into Maven, so only its versions are imported.
    imported = [parent | {"type": "pom", "scope": "import"} for parent in artifacts[PARENT].values()]
    managed = _write([*artifacts[MANAGED].values(), *imported])
    return (
        f"<properties>{_elements(properties)}</properties><dependencyManagement>{managed}</dependencyManagement>"
        f"{_write(artifacts[NEEDED].values())}"
    )


def _fields(element: Element, names: Iterable[str], path: str = "") -> dict[str, str]:
    texts = {name: (element.findtext(f"{path}{{*}}{name}") or "").strip() for name in names}
    return {name: text for name, text in texts.items() if text}


def _fill(text: str, own: Mapping[str, str]) -> str:
    return OWN.sub(lambda match: own.get(match[1], match[0]), text.strip())


def _elements(texts: Mapping[str, str]) -> str:
    return "".join(f"<{name}>{text}</{name}>" for name, text in texts.items())


def _write(artifacts: Iterable[Mapping[str, str]]) -> str:
    written = ""
    for artifact in artifacts:
        if artifact.get("scope") == "system" or not all(map(VALUE.fullmatch, artifact.values())):
            raise foreign(":".join(artifact.values()), "pom.xml")
        written += f"<dependency>{_elements(artifact)}</dependency>"
    return f"<dependencies>{written}</dependencies>"


def _read_poms(root: Path) -> Iterator[Element]:
    paths = [root / "pom.xml"]
    # A module may have modules, so the list grows while it is read.
    for path in paths:
        text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
        try:
            # Entities could make a small file fill the memory.
            if "<!" in re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL):
                raise ParseError("it declares types or entities")
            pom = fromstring(re.sub(r"^\s*<\?xml.*?\?>", "", text))  # noqa: S314  no entities, see above
        except ParseError as error:
            raise PreparationError(f"Cannot read {path.relative_to(root)}: {error}") from error
        yield pom
        for module in pom.iterfind("{*}modules/{*}module"):
            place = Path(os.path.normpath(path.parent / (module.text or "").strip()))
            place = place if place.suffix == ".xml" else place / "pom.xml"
            if not (place.is_relative_to(root) and is_own(place, root)):
                raise foreign(f"the module {module.text}", "pom.xml")
            paths += [place] if place not in paths and len(paths) < MAX_MEMBERS else []
