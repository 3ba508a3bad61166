"""A reader of what a Maven project with its modules needs, as one POM of ours: Maven sees nothing else of the project.

The parent from a registry becomes an import of the versions that it manages, since as a parent it could load extensions
into Maven.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ci_eval.core.base.errors import PreparationError
from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.base.workspaces import MAX_MEMBERS
from ci_eval.core.fetch.requirements import foreign

FIELDS = ("groupId", "artifactId", "version", "type", "classifier", "scope")
VALUE = re.compile(r"(?:[A-Za-z0-9_.,+()\[\]-]|\$\{[A-Za-z0-9_.-]+\})+")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
OWN = re.compile(r"\$\{(?:project|pom)\.(?:parent\.)?(groupId|artifactId|version)\}")


@dataclass(frozen=True)
class _Pom:
    folder: Path
    root: ElementTree.Element

    def text(self, name: str) -> str:
        """Return a field of the project's coordinates, which may be its parent's; "" if it has none."""
        return (self.root.findtext(f"{{*}}{name}") or self.root.findtext(f"{{*}}parent/{{*}}{name}") or "").strip()

    def artifact(self, element: ElementTree.Element) -> dict[str, str]:
        """Return the fields of a dependency, with the project's own coordinates filled in."""
        texts = {name: (element.findtext(f"{{*}}{name}") or "").strip() for name in FIELDS}
        return {name: OWN.sub(lambda match: self.text(match[1]), text) for name, text in texts.items() if text}


def has_pom(root: Path) -> bool:
    return is_own(root / "pom.xml", root)


def read_needs(root: Path) -> str:
    """Return the XML of a POM's properties, managed versions and dependencies: those of the project and of all its
    modules, without the modules themselves and without what is for tests. Raises PreparationError."""
    poms = list(_read_poms(root))
    members = {(pom.text("groupId"), pom.text("artifactId")) for pom in poms}
    properties: dict[str, str] = {}
    parents, managed, needed = (dict[tuple[str, ...], dict[str, str]]() for _ in range(3))
    for pom in poms:
        for element in pom.root.findall("{*}properties/*"):
            name, value = element.tag.rpartition("}")[2], OWN.sub(lambda own: pom.text(own[1]), element.text or "")  # noqa: B023
            if NAME.fullmatch(name) and VALUE.fullmatch(value.strip()):
                properties.setdefault(name, value.strip())
        for path, table in (
            ("{*}parent", parents),
            ("{*}dependencyManagement/{*}dependencies/{*}dependency", managed),
            ("{*}dependencies/{*}dependency", needed),
        ):
            for artifact in map(pom.artifact, pom.root.findall(path)):
                key = tuple(artifact.get(name, "") for name in ("groupId", "artifactId", "type", "classifier"))
                if key[:2] not in members and artifact.get("scope") != "test":
                    table.setdefault(key, artifact)
    imported = [parent | {"type": "pom", "scope": "import"} for parent in parents.values()]
    defined = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in properties.items())
    return (
        f"<properties>{defined}</properties><dependencyManagement>{_write([*managed.values(), *imported])}"
        f"</dependencyManagement>{_write(needed.values())}"
    )


def _write(artifacts: Iterable[dict[str, str]]) -> str:
    texts = []
    for artifact in artifacts:
        if artifact.get("scope") == "system" or not all(map(VALUE.fullmatch, artifact.values())):
            raise foreign(":".join(artifact.values()), "pom.xml")
        texts.append("".join(f"<{name}>{escape(value)}</{name}>" for name, value in artifact.items()))
    return f"<dependencies>{''.join(f'<dependency>{text}</dependency>' for text in texts)}</dependencies>"


def _read_poms(root: Path) -> Iterator[_Pom]:
    """Yield the POMs of a project and of its modules, at most MAX_MEMBERS."""
    waiting, met = [root / "pom.xml"], set[Path]()
    while waiting and len(met) < MAX_MEMBERS:
        path = waiting.pop(0)
        if path in met:
            continue
        met.add(path)
        pom = _Pom(path.parent, _parse(root, path))
        yield pom
        for module in pom.root.findall("{*}modules/{*}module"):
            place = Path(os.path.normpath(path.parent / (module.text or "").strip()))
            place = place if place.suffix == ".xml" else place / "pom.xml"
            if not (place.is_relative_to(root) and is_own(place, root)):
                raise foreign(f"the module {module.text}", "pom.xml")
            waiting.append(place)


def _parse(root: Path, path: Path) -> ElementTree.Element:
    text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
    try:
        # Entities could make a small file fill the memory.
        if "<!" in re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL):
            raise ElementTree.ParseError("it has a declaration of types or entities")
        return ElementTree.fromstring(re.sub(r"^\s*<\?xml.*?\?>", "", text))  # noqa: S314  no entities, see above
    except ElementTree.ParseError as error:
        raise PreparationError(f"Cannot read {path.relative_to(root)}: {error}") from error
