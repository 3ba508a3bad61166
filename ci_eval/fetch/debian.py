"""Download the tarballs that a Debian source package was made from. apt-get uses separate package lists. Nothing is
built."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import InstallError
from ci_eval.fetch.archive import find_top_folder, unpack
from ci_eval.fetch.clients import last_words, match_source, run_client, run_to_end
from ci_eval.fetch.sealed import new_folder

DISABLED = re.compile(r"^Enabled:[ \t]*(?:no|false|without|off|disable|0)[ \t]*$", re.MULTILINE | re.IGNORECASE)
TYPES = re.compile(r"^Types:(?P<types>.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE)


class AptSources(msgspec.Struct, frozen=True, kw_only=True):
    lines: str
    stanzas: str


def machine_sources(cwd: Path) -> AptSources:
    argv = ("apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
    named = dict(word.split("=", 1) for word in shlex.split(run_client(argv, cwd=cwd)))
    return read_sources(Path(named.get("LIST", "")), Path(named.get("PARTS", "")))


def read_sources(one: Path, parts: Path) -> AptSources:
    # apt ignores files in `parts` that have other names.
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
        # A cdrom entry is skipped, since apt would ask the user to insert the disc.
        if entry and not re.search(r"(?:^|\s)cdrom:", entry["rest"]):
            yield f"deb-src {entry['rest']}"


def source_stanzas(text: str) -> Iterator[str]:
    without_comments = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    for stanza in re.split(r"\n(?:[ \t]*\n)+", without_comments.strip()):
        types = TYPES.search(stanza)
        if types and {"deb", "deb-src"} & set(types["types"].split()) and not DISABLED.search(stanza):
            yield TYPES.sub("Types: deb-src", stanza, count=1) + "\n"


DAY = 24 * 60 * 60.0
DEBIAN = re.compile(r"(?P<name>[a-z0-9][a-z0-9+.-]+)=(?P<version>(?:\d+:)?\d[A-Za-z0-9.+~-]*)")
TARBALL = re.compile(r".+?(?:\.orig(?:-(?P<component>[A-Za-z0-9-]+))?)?\.tar\.(?:gz|xz|bz2)")
UNKNOWN = re.compile(r"Can not find version|Unable to find a source package|You must put some 'deb-src'")

# The machine's hooks and default release are not meant for these lists. apt does not switch to its user _apt, which
# could not write to folders that only the caller may enter. Signatures are checked as always.
SETTINGS = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Default-Release "";
APT::Sandbox::User "root";
Acquire::GzipIndexes "true";
"""


class Tarballs(msgspec.Struct, frozen=True, kw_only=True):
    upstream: Path
    components: dict[str, Path]
    """The tarball of each component, by the name of the folder to which it is unpacked."""


def apt_source(package: str, folder: Path, cache: Path) -> Tarballs:
    """Download the tarballs of SOURCE=VERSION to the empty `folder`. The lists of source packages are kept below
    `cache` for a day, and are fetched again if they lack the version. Raises ConfigError or InstallError."""
    check_debian(package)
    apt = _Apt(cache.absolute() / "apt", machine_sources(folder))
    missed = None if apt.is_fresh() else apt.update()
    trouble = apt.download(package, folder)
    if UNKNOWN.search(trouble) and missed is None:
        missed = apt.update()
        trouble = apt.download(package, folder)
    if trouble:
        incomplete = f"\nThese lists are not complete: {missed}" if missed else ""
        name, _, version = package.partition("=")
        advice = "Check the network. If a file is not found (404), the mirror lacks it: try another mirror or version."
        if UNKNOWN.search(trouble) and (versions := apt.versions(name, folder)):
            advice = f"This machine's apt sources have {name} in {', '.join(versions)}, not {version}."
        elif UNKNOWN.search(trouble):
            advice = f"This machine's apt sources have no source package {name}. Is that a binary package?"
        raise InstallError(f"{trouble}\n{advice}{incomplete}")
    matches = {path: match for path in sorted(folder.iterdir()) if (match := TARBALL.fullmatch(path.name))}
    components = {match["component"]: path for path, match in matches.items() if match["component"]}
    upstream = [path for path in matches if path not in components.values()]
    if len(upstream) != 1:
        raise InstallError(
            f"apt-get downloaded no upstream tarball (.gz, .xz, .bz2) of {package}. Try another version."
        )
    return Tarballs(upstream=upstream[0], components=components)


def check_debian(package: str) -> re.Match[str]:
    needed = "the name of a source package and its full version are needed, as in fmtlib=9.1.0+ds1-2."
    return match_source(DEBIAN, package, f"SOURCE=VERSION: {needed}")


def unpack_components(tarballs: Tarballs, root: Path) -> None:
    """Replace the folder of each component below `root` by the contents of its tarball, as dpkg-source does."""
    for name, tarball in tarballs.components.items():
        with tempfile.TemporaryDirectory(prefix=".component-", dir=root.parent) as folder:
            unpack(tarball, Path(folder, name))
            shutil.rmtree(root / name, ignore_errors=True)
            find_top_folder(Path(folder, name)).rename(root / name)


class _Apt:
    def __init__(self, folder: Path, sources: AptSources) -> None:
        self.folder, self.sources = folder, sources
        if not sources.lines and not sources.stanzas:
            raise InstallError("apt-get has no sources: sources.list and sources.list.d are empty.")

    def is_fresh(self) -> bool:
        """Return whether the stored lists are from the machine's current sources and less than a day old."""
        try:
            age = time.time() - (self.folder / "apt.conf").stat().st_mtime
            stored = AptSources(
                lines=(self.folder / "sources.list").read_text("utf-8"),
                stanzas=(self.folder / "sources.list.d/machine.sources").read_text("utf-8"),
            )
        except OSError:
            return False
        # The age is negative if the clock was set back.
        return stored == self.sources and 0 <= age < DAY

    def update(self) -> str:
        """Fetch the lists to a new folder that replaces the old one. Return why some lists are missing, or ""."""
        with new_folder(self.folder.parent) as folder:
            missed = _Apt(folder, self.sources).fetch_lists()
            # If two processes update at once, the lists of one of them remain.
            with contextlib.suppress(OSError):
                self.folder.rename(folder.with_name("old"))
            with contextlib.suppress(OSError):
                folder.rename(self.folder)
        return missed

    def fetch_lists(self) -> str:
        for name in ("sources.list.d", "lists/partial", "cache"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "sources.list").write_text(self.sources.lines, "utf-8")
        (self.folder / "sources.list.d/machine.sources").write_text(self.sources.stanzas, "utf-8")
        (self.folder / "apt.conf").write_text(SETTINGS, "utf-8")
        argv = self.command("apt-get", "-qq", "-o", "APT::Update::Error-Mode=any", "update")
        try:
            run_client(argv, cwd=self.folder, variables={"LC_ALL": "C"})
        except InstallError as error:
            # If only some sources cannot be reached, the others may have the package.
            if any((self.folder / "lists").glob("*Sources*")):
                return str(error)
            hint = "Check the network, and that `apt-get update` works on this machine."
            raise InstallError(f"{error}\n{hint}") from None
        return ""

    def download(self, package: str, folder: Path) -> str:
        """Download the upstream tarballs of SOURCE=VERSION. Return why the download failed, or ""."""
        # apt checks each file by its SHA-256 in the list, and the list by the archive's signature.
        options = ("-qq", "source", "--download-only", "--only-source", "--tar-only")
        # LC_ALL=C: UNKNOWN matches the English messages of apt.
        ended = run_to_end(self.command("apt-get", *options, "--", package), cwd=folder, variables={"LC_ALL": "C"})
        return f"apt-get failed:\n{last_words(ended.trouble)}" if ended.code else ""

    def versions(self, name: str, cwd: Path) -> list[str]:
        options = ("showsrc", "--only-source", "--", name)
        output = run_to_end(self.command("apt-cache", *options), cwd=cwd, variables={"LC_ALL": "C"}).output
        return list(dict.fromkeys(re.findall(r"^Version: (\S+)$", output, re.MULTILINE)))

    def command(self, program: str, *arguments: str) -> tuple[str, ...]:
        locations = {
            "Dir::Etc::sourcelist": "sources.list",
            "Dir::Etc::sourceparts": "sources.list.d",
            "Dir::State::lists": "lists",
            "Dir::Cache": "cache",
        }
        options = [part for key, name in locations.items() for part in ("-o", f"{key}={self.folder / name}")]
        return (program, f"-c={self.folder / 'apt.conf'}", *options, *arguments)
