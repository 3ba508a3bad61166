"""Prepare projects. A project is named by a SPEC, fetched once to the cache, and never executed."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.base.files import is_regular
from ci_eval.core.model import ProjectInfo, Value
from ci_eval.fetch import git, schemes, sealed
from ci_eval.fetch.archive import find_top_folder
from ci_eval.fetch.download import hash_file
from ci_eval.fetch.identity import identify
from ci_eval.fetch.schemes import Spec

MARKER = "project.json"
FILES = "files"


class Project(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    info: ProjectInfo


class _Marker(Value, frozen=True, kw_only=True):
    root: str
    info: ProjectInfo


def parse(spec: str) -> Spec:
    """Parse a SPEC, or the address of a repository's page. Raises ConfigError, with examples, for other texts."""
    scheme, _, source = (git.parse_page(spec) or spec).partition(":")
    if scheme in ("http", "https"):
        scheme, source = "https", spec
    if scheme in schemes.names() and source and not re.search(r"[\x00-\x1f\x7f]", source):
        return schemes.CATALOG.load(scheme).parse(source)
    examples = "\n".join(f"  {known.example}" for known in schemes.CATALOG.all())
    raise ConfigError(f"{spec!r} does not name a project.{_guess(spec)} It can be:\n{examples}")


def _guess(spec: str) -> str:
    """Return " Did you mean …?" for a missing or misspelled scheme, or "" without a guess."""
    scheme, _, source = spec.partition(":")
    near = difflib.get_close_matches(scheme, schemes.names(), n=1, cutoff=0.5)
    if source and near and near[0] != scheme:
        return f" Did you mean {near[0]}:{source}?"
    with suppress(OSError, ValueError, RuntimeError):  # too long for a path, a null character, an unknown user
        if Path(spec).expanduser().is_dir():
            return f" Did you mean path:{spec}?"
    fitting = []
    for known in schemes.names():
        if known != "path":
            with suppress(ConfigError):
                schemes.CATALOG.load(known).parse(spec)
                fitting.append(f"{known}:{spec}")
    return f" Did you mean {' or '.join(fitting)}?" if fitting else ""


def written(spec: Spec) -> str:
    return schemes.CATALOG.load(spec.scheme).write(spec)


def prepare(spec: str, *, cache: Path, name: str | None = None) -> Project:
    """Prepare the project that `spec` names. A folder (`path:`) is used in place. Any other project is fetched to
    `cache`, and later used from there without network. `name` replaces the project's own name. Two processes may
    prepare the same project at once. Raises ConfigError or PreparationError."""
    parsed = parse(spec)
    scheme = schemes.CATALOG.load(parsed.scheme)
    if scheme.fetch is None:
        project = _open_working_tree(parsed)
    elif scheme.lasting(parsed) and sealed.intact(folder := cache.absolute() / "projects" / _slug(parsed)):
        try:
            marker = msgspec.json.decode((folder / MARKER).read_bytes(), type=_Marker)
        except (OSError, msgspec.MsgspecError) as error:
            raise PreparationError(f"Cannot use {folder}: {error}. Remove it, then run again.") from error
        project = Project(root=folder / marker.root, info=marker.info)
    else:
        projects = cache.absolute() / "projects"
        try:
            with sealed.new_folder(projects) as whole:
                pinned = scheme.fetch(parsed, whole / FILES, cache)
                root = find_top_folder(whole / FILES) if scheme.top else whole / FILES
                info = _info(pinned, pinned.revision or pinned.sha256, root)
                marker = _Marker(root=root.relative_to(whole).as_posix(), info=info)
                (whole / MARKER).write_bytes(msgspec.json.format(msgspec.json.encode(marker)))
                # A branch moves, so the folder is named after its commit.
                folder = projects / _slug(parsed if scheme.lasting(parsed) else pinned)
                # If a branch points to a commit that was prepared before, the folder is replaced only if it is damaged.
                if not sealed.intact(folder):
                    sealed.publish(whole, folder)
            project = Project(root=folder / marker.root, info=info)
        except OSError as error:
            raise PreparationError(
                f"Cannot prepare {written(parsed)}: {error}. Is {cache} writable, the disk full?"
            ) from error
    return project if name is None else Project(root=project.root, info=replace(project.info, name=name, identity=name))


def lasts(spec: str) -> bool:
    """Return whether the SPEC names a folder, or always means the same files."""
    parsed = parse(spec)
    scheme = schemes.CATALOG.load(parsed.scheme)
    return scheme.fetch is None or scheme.lasting(parsed)


def checksum(root: Path) -> str:
    """Return the SHA-256 (hex) over the paths and contents of the regular files below `root`, except those in hidden
    folders. It is the same on every machine. Raises PreparationError if a file cannot be read."""
    total = hashlib.sha256()
    files: dict[bytes, Path] = {}
    for folder, below, names in os.walk(root):
        # Folders such as .git differ between checkouts of the same files.
        below[:] = [name for name in below if not name.startswith(".")]
        above = Path(folder).relative_to(root).as_posix()
        prefix = "" if above == "." else f"{above}/"
        for name in names:
            if is_regular(f"{folder}{os.sep}{name}"):
                # A name need not be valid text, so its bytes are sorted and hashed.
                files[os.fsencode(f"{prefix}{name}")] = Path(folder, name)
    try:
        for encoded, path in sorted(files.items()):
            total.update(encoded + b"\0" + hash_file(path).encode() + b"\n")
    except OSError as error:
        raise PreparationError(f"Cannot read the project: {error}. Make all its files readable.") from error
    return total.hexdigest()


def _slug(spec: Spec) -> str:
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", f"{spec.scheme}-{spec.name}-{spec.revision}")[:60]
    return f"{name.strip('.-')}-{hashlib.sha256(written(spec).encode()).hexdigest()[:16]}"


def _info(spec: Spec, revision: str, root: Path) -> ProjectInfo:
    return ProjectInfo(spec=written(spec), name=spec.name, revision=revision, checksum=checksum(root))


def _open_working_tree(spec: Spec) -> Project:
    root = Path(spec.source).expanduser().resolve()
    if root.is_file():
        raise ConfigError(f"{written(spec)} is a file: give its folder, and name the file in `actions.evaluationRoots`")
    if not root.is_dir():
        raise ConfigError(f"{written(spec)}: there is no folder {root}. A relative path counts from {Path.cwd()}.")
    shown = str(root).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if shown != str(root):
        advice = "rename the folder, or give a symbolic link to it"
        raise ConfigError(f"{shown} has bytes that are not UTF-8, so no report can name it: {advice}")
    identity = identify(root)
    info = _info(msgspec.structs.replace(spec, name=identity.shown), git.read_revision(root) or "working tree", root)
    return Project(root=root, info=replace(info, identity=identity.repository))
