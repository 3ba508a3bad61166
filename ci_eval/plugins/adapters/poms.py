"""A reader of what a Maven project with its modules needs, as one POM of ours: Maven sees nothing else of the project.

The parent from a registry becomes an import of the versions that it manages, since as a parent it could load extensions
into Maven.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.base.workspaces import MAX_MEMBERS
from ci_eval.core.fetch.locks import foreign

COORDINATES = ("groupId", "artifactId", "version")
FIELDS = (*COORDINATES, "type", "classifier", "scope")
VALUE = re.compile(r"(?:[A-Za-z0-9_.,+()\[\]-]|\$\{[A-Za-z0-9_.-]+\})+")
"""A value without an address or a path, and without a character that XML escapes."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
OWN = re.compile(r"\$\{(?:project|pom)\.(?:parent\.)?(groupId|artifactId|version)\}")
PARENT = "{*}parent"
MANAGED = "{*}dependencyManagement/{*}dependencies/{*}dependency"
NEEDED = "{*}dependencies/{*}dependency"


def read_needs(root: Path) -> str:
    """Return the XML of a POM's properties, managed versions and dependencies: those of the project and of all its
    modules, without the modules themselves and without what is for tests. Raises PreparationError."""
    # A module has the group and version of its parent if it names none.
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
    """Yield the POMs of a project and of its modules, at most MAX_MEMBERS."""
    paths = [root / "pom.xml"]
    # A module may have modules, so the list grows while it is read.
    for path in paths:
        pom = _parse(root, path)
        yield pom
        for module in pom.iterfind("{*}modules/{*}module"):
            place = Path(os.path.normpath(path.parent / (module.text or "").strip()))
            place = place if place.suffix == ".xml" else place / "pom.xml"
            if not (place.is_relative_to(root) and is_own(place, root)):
                raise foreign(f"the module {module.text}", "pom.xml")
            paths += [place] if place not in paths and len(paths) < MAX_MEMBERS else []


def _parse(root: Path, path: Path) -> Element:
    text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
    try:
        # Entities could make a small file fill the memory.
        if "<!" in re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL):
            raise ParseError("it declares types or entities")
        return fromstring(re.sub(r"^\s*<\?xml.*?\?>", "", text))  # noqa: S314  no entities, see above
    except ParseError as error:
        raise PreparationError(f"Cannot read {path.relative_to(root)}: {error}") from error
