"""A reader of the sources that this machine's apt takes packages from, turned into sources of source packages. It
changes nothing on the machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.fetch.clients import run_client

DISABLED = re.compile(r"^Enabled:[ \t]*(?:no|false|without|off|disable|0)[ \t]*$", re.MULTILINE | re.IGNORECASE)
TYPES = re.compile(r"^Types:(?P<types>.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class AptSources:
    lines: str
    """The entries in the format of sources.list: a `deb-src` line each."""
    stanzas: str
    """The entries in the format of a .sources file (deb822), with `Types: deb-src`."""


def machine_sources(cwd: Path) -> AptSources:
    """Return the sources that this machine's apt is set up with, as sources of source packages. Raises InstallError if
    there is no apt."""
    argv = ("apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
    named = dict(word.split("=", 1) for word in shlex.split(run_client(argv, cwd=cwd)))
    return read_sources(Path(named.get("LIST", "")), Path(named.get("PARTS", "")))


def read_sources(one: Path, parts: Path) -> AptSources:
    """Return the sources named by the file `one` and by the files in the folder `parts`."""
    # apt ignores files of the folder with other names.
    inside = sorted(path for path in parts.glob("*") if re.fullmatch(r"[\w.-]+\.(?:list|sources)", path.name))
    lists = [path for path in (one, *inside) if path.is_file() and path.suffix != ".sources"]
    lines = [line for path in lists for line in source_lines(path.read_text("utf-8", "replace"))]
    files = [path for path in inside if path.is_file() and path.suffix == ".sources"]
    stanzas = [stanza for path in files for stanza in source_stanzas(path.read_text("utf-8", "replace"))]
    return AptSources(
        lines="".join(f"{line}\n" for line in dict.fromkeys(lines)), stanzas="\n".join(dict.fromkeys(stanzas))
    )


def source_lines(text: str) -> Iterator[str]:
    """Yield each entry of a .list file as a `deb-src` line."""
    for line in text.splitlines():
        entry = re.fullmatch(r"\s*deb(?:-src)?\s+(?P<rest>\S.*?)\s*", re.sub(r"(?:^|\s)#.*", "", line))
        # apt would ask somebody to insert the disc.
        if entry and not re.search(r"(?:^|\s)cdrom:", entry["rest"]):
            yield f"deb-src {entry['rest']}"


def source_stanzas(text: str) -> Iterator[str]:
    """Yield each enabled entry of a .sources file as a stanza with `Types: deb-src`."""
    without_comments = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    for stanza in re.split(r"\n(?:[ \t]*\n)+", without_comments.strip()):
        types = TYPES.search(stanza)
        if types and {"deb", "deb-src"} & set(types["types"].split()) and not DISABLED.search(stanza):
            yield TYPES.sub("Types: deb-src", stanza, count=1) + "\n"
