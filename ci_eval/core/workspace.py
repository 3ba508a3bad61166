"""The files of one run. Each is written in one step, so a run that is killed leaves no partial files.

config.yaml      the configuration of the run
view.yaml        settings that change only reports and comparisons (see config/loading.py); no digest covers them
manifest.json    the run, its engine, project and machine, and its progress
actions/         a FileActions for each source file (.json.zst)
sessions/        a SourceFile and its Sessions, one per line, for each source file (.jsonl.zst)
                 When the run is complete, many of these files are archived in all.zip.
errors/          a FileError for each source file that caused an error (.json)
names.npz        the count of each name in the project, for rankers
unfinished/      the sessions so far of files that workers are evaluating
rounds/          the sessions of each round, for files that have not finished all rounds
logs/            suggestions with features, for training and validation
reports/
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.manifest import FORMAT, Manifest
from ci_eval.core.model import (
    Action,
    Asked,
    FileActions,
    FileAsked,
    FileError,
    FileHead,
    Kind,
    OpenFile,
    Session,
    SessionScore,
    SourceFile,
)
from ci_eval.core.statistics.population import Strata, project_from_path, select_shard_files


class Identified(Protocol):
    @property
    def id(self) -> str: ...


S = TypeVar("S", bound=Identified)
Head = TypeVar("Head", bound=FileHead)

MOST_SESSIONS = 10_000_000
"""The largest number of sessions of one source file. A file of 1 MB has about 100,000 tokens."""

FOLDERS = ("actions", "sessions", "errors", "logs", "reports")


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names_path, self.config_path, self.view_path = (
            folder / name for name in ("names.npz", "config.yaml", "view.yaml")
        )
        self._manifest: Manifest | None = None

    @classmethod
    def create(cls, folder: Path) -> Workspace:
        """Create a workspace in a new or empty folder. Raises WorkspaceError."""
        cls.check_free(folder)
        for part in FOLDERS:
            atomic.make_folder(folder / part)
        return cls(folder)

    @staticmethod
    def check_free(folder: Path, hint: str = "") -> None:
        """Raise WorkspaceError, whose message ends with `hint`, unless the folder is new or empty."""
        if not (folder.is_dir() and _is_hardly_begun(folder)):
            atomic.check_free(folder, hint)

    @classmethod
    def open(cls, folder: Path) -> Workspace:
        """Open a workspace. Raises WorkspaceError if the folder is not a workspace of this format, or has links."""
        if not (folder / "manifest.json").is_file():
            below = (sorted(folder.glob(pattern)) for pattern in ("*/manifest.json", "*/*/manifest.json"))
            near = next((paths[-1] for paths in below if paths), folder.parent / "manifest.json")
            advice = f"did you mean {near.parent}?" if near.is_file() else "give the folder of an earlier run"
            raise WorkspaceError(f"{folder} is not a workspace: it has no manifest.json; {advice}")
        stored.refuse_links(folder)
        workspace = cls(folder)
        workspace.manifest()
        return workspace

    # ------------------------------------------------------------------------------------------ manifest and config

    def manifest(self) -> Manifest:
        """Return the manifest, which is read once. Raises WorkspaceError if this version of ci-eval cannot read it."""
        if self._manifest is not None:
            return self._manifest
        path = self.folder / "manifest.json"
        data = stored.read(path, stored.MANIFEST)
        form = stored.decode_json(data, _Format, path).format
        if form != FORMAT:
            age = "newer" if form > FORMAT else "older"
            raise WorkspaceError(
                f"{self.folder} has format {form}, which is {age} than format {FORMAT} of this ci-eval: evaluate again"
            )
        manifest = stored.decode_json(data, Manifest, path)
        try:
            manifest.check()
        except ValueError as error:
            raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
        self._manifest = manifest
        return manifest

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest in one step. Its digests are removed until `seal` is called."""
        self._write_manifest(replace(manifest, format=FORMAT, digests={}))

    def _write_manifest(self, manifest: Manifest) -> None:
        atomic.write_json(self.folder / "manifest.json", manifest)
        self._manifest = manifest

    def seal(self) -> None:
        """Write the digests of all parts into the manifest, so that recipients of this folder can verify the parts."""
        manifest = self.manifest()
        for part in ARCHIVED:
            stored.archive(self.folder / part)
        # `_digest` reads the manifest from its file, so the file must have its final content first.
        self._write_manifest(replace(manifest, digests={}))
        self._write_manifest(replace(manifest, digests={part: self._digest(part) for part in PARTS}))

    def verify(self, *parts: str) -> None:
        """Raise WorkspaceError if one of these parts (default: all) has changed since the workspace was sealed."""
        digests = self.manifest().digests
        if not digests:
            raise WorkspaceError(f"{self.folder} was not finished: its manifest has no digests; evaluate again")
        if wrong := [part for part in parts or PARTS if digests.get(part) != self._digest(part)]:
            raise WorkspaceError(
                f"{self.folder} is not what was evaluated: {', '.join(wrong)} changed since; fetch the artifact again"
            )

    def _digest(self, part: str) -> str:
        path = self.folder / part
        if part != "manifest.json":
            return _digest(path)
        # A manifest cannot contain its own digest, so the digests are excluded.
        manifest = stored.decode_json(stored.read(path, stored.MANIFEST), dict[str, object], path)
        manifest.pop("digests", None)
        return hashlib.sha256(msgspec.json.encode(manifest, order="sorted")).hexdigest()

    def write_config(self, text: str) -> None:
        atomic.write(self.config_path, text.encode())

    # ------------------------------------------------------------------------------------------------ stages' files

    def write_actions(self, path: str, packed: bytes) -> None:
        atomic.write(self.actions_path(path), packed)

    def actions_path(self, path: str) -> Path:
        return self.folder / "actions" / f"{make_file_name(path)}{ACTIONS}"

    def find_extents(self, path: str) -> dict[int, int]:
        """Return begin → end, in code points, of all items of a source file; {} if the file has no actions."""
        stored_at = self.actions_path(path)
        if not stored.exists(stored_at):
            return {}
        return {asked.offset: asked.offset + len(asked.expected_text) for asked in read_items(stored_at)}

    def actions(self) -> Iterator[FileActions]:
        for path in self.action_files():
            yield read_actions(path)

    def heads(self) -> Mapping[Path, FileHead]:
        """Return actions file → its head, sorted by name."""
        return _read_heads(self.folder, self.actions_stamp())

    def actions_stamp(self) -> int:
        """Return a number that changes when an actions file is written or removed."""
        with os.scandir(self.folder / "actions") as entries:
            return hash(frozenset((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries))

    def strata(self) -> Strata:
        manifest = self.manifest()
        # The manifest has only the total number of sessions, not the numbers of projects or shards.
        merged, counts = bool(manifest.projects), Counter({"": manifest.generated})
        if merged or manifest.shard is not None:
            files = {head.path: head.sessions for head in self.heads().values()}
            counts = Counter[str]()
            for path, number in select_shard_files(files, manifest.shard).items():
                counts[project_from_path(path, merged=merged)] += number
            if manifest.sampling and not merged:
                counts = Counter({"": round(manifest.generated * counts[""] / max(sum(files.values()), 1))})
        classes = {project: manifest.strata.get(project, {"": sessions}) for project, sessions in counts.items()}
        sessions = {(project, name): number for project, of in classes.items() for name, number in of.items()}
        return Strata(sessions, merged, manifest.unparsable)

    def action_files(self) -> list[Path]:
        """Return the actions files, sorted by name so that every run has the same order."""
        return _packed_files(self.folder / "actions", ACTIONS)

    def copy_actions(self, target: Workspace) -> None:
        for path in self.action_files():
            stored.copy(path, target.folder / "actions" / path.name)

    def write_sessions(self, path: str, packed: bytes) -> None:
        atomic.write(self.sessions_path(path), packed)

    def has_sessions(self, path: str) -> bool:
        return stored.exists(self.sessions_path(path))

    def drop_sessions(self, path: str) -> None:
        file = self.sessions_path(path)
        if file.name in stored.archived(file.parent):
            stored.unarchive(file.parent)
        file.unlink(missing_ok=True)

    def sources(self) -> Iterator[SourceFile]:
        return (source for source, _ in self.sessions(SessionScore))

    def sessions(self, kind: type[S]) -> Iterator[tuple[SourceFile, Iterator[S]]]:
        """Yield each source file with an iterator of its sessions, in the order of the names of the stored files."""
        return self.read_session_files(self.session_files(), kind)

    def read_session_files(self, paths: Iterable[Path], kind: type[S]) -> Iterator[tuple[SourceFile, Iterator[S]]]:
        for path in paths:
            lines = stored.lines(path)
            source = stored.decode_json(next(lines, b""), SourceFile, path)
            _check_inside(source.path, path)
            # Without this check, two stored files could count the sessions of one source file twice.
            if path != self.sessions_path(source.path):
                raise WorkspaceError(f"{path} holds the sessions of {source.path}, which belong into another file")
            yield source, _sessions(lines, kind, path, source)

    def decode_sessions(self, path: str, kind: type[S]) -> Iterator[S]:
        return next(self.read_session_files([self.sessions_path(path)], kind))[1]

    def source(self, path: str) -> SourceFile:
        return next(self.read_session_files([self.sessions_path(path)], SessionScore))[0]

    def session_files(self) -> list[Path]:
        return _packed_files(self.folder / "sessions", SESSIONS)

    def find_session(self, identity: str) -> tuple[SourceFile, Session]:
        """Return the only session whose id begins with `identity`, and its source file. Raises WorkspaceError."""
        # Sessions are large, so the search decodes only their ids.
        heads = ((file, head.id) for file, of_file in self.sessions(_Identity) for head in of_file)
        matches = [(file, whole) for file, whole in heads if whole.startswith(identity)]
        if len(matches) == 1:
            ((file, whole),) = matches
            return file, next(session for session in self.decode_sessions(file.path, Session) if session.id == whole)
        examples = ": " + ", ".join(whole for _, whole in matches[:5]) if matches else ""
        raise WorkspaceError(
            f"{len(matches)} sessions in {self.folder} have an id that begins with {identity!r}{examples}; "
            "ids are in the HTML report and in sessions/"
        )

    def sessions_path(self, path: str) -> Path:
        return self.folder / "sessions" / f"{make_file_name(path)}{SESSIONS}"

    def write_error(self, error: FileError) -> None:
        atomic.write_json(self.folder / "errors" / f"{make_file_name(error.path)}.{error.stage}.json", error)

    def drop_error(self, path: str) -> None:
        """Remove the stored error of stage 2 for a source file."""
        (self.folder / "errors" / f"{make_file_name(path)}.interpret.json").unlink(missing_ok=True)

    def errors(self) -> list[FileError]:
        paths = (self.folder / "errors").glob("*.json")
        errors = [stored.decode_json(stored.read(path, stored.MANIFEST), FileError, path) for path in paths]
        return sorted(errors, key=lambda error: (error.path, error.stage))

    def adopt(self, other: Workspace, folder: str) -> None:
        for source, sessions in other.sessions(Session):
            moved = replace(source, path=f"{folder}/{source.path}")
            self.write_sessions(moved.path, pack_sessions(moved, (replace(of, file=moved.path) for of in sessions)))
        for actions in other.actions():
            path = f"{folder}/{actions.path}"
            opened = [replace(of, path=path) if isinstance(of, OpenFile) else of for of in actions.actions]
            self.write_actions(path, pack_actions(replace(actions, path=path, actions=tuple(opened))))
        for error in other.errors():
            self.write_error(replace(error, path=f"{folder}/{error.path}"))

    def tidy(self) -> None:
        atomic.tidy(self.folder)

    def clear(self, part: str) -> None:
        for pattern in ("*.json*", stored.ARCHIVE):
            for path in (self.folder / part).glob(pattern):
                path.unlink()


def find_workspaces(places: Iterable[Path]) -> list[Path]:
    """Return the places that are workspaces; any other place is replaced by the workspaces directly below it, sorted by
    name. Raises WorkspaceError if a place neither is nor contains a workspace."""
    # GitHub unpacks several artifacts into one folder each, but a single artifact directly into the given folder.
    workspaces = []
    for place in places:
        if not place.is_dir() or (place / "manifest.json").is_file():
            workspaces.append(place)
        elif folders := sorted(path.parent for path in place.glob("*/manifest.json")):
            workspaces += folders
        else:
            Workspace.open(place)  # raises an error with the reason
    return workspaces


ARCHIVED = ("actions", "sessions")
PARTS = ("actions", "sessions", "errors", "logs", "names.npz", "config.yaml", "manifest.json")


def _is_hardly_begun(folder: Path) -> bool:
    """Return whether the folder contains only files of a run that was killed before it wrote its manifest."""
    names = {path.name for path in folder.iterdir()}
    begun, others = names.intersection(FOLDERS), names.difference(FOLDERS)
    if any(part.is_symlink() or not part.is_dir() or any(part.iterdir()) for part in map(folder.joinpath, begun)):
        return False
    # A configuration without the folders of a run was written by the user.
    return not others or (
        begun.issuperset(FOLDERS) and all(name.startswith(("config.yaml", "manifest.json.")) for name in others)
    )


def _digest(part: Path) -> str:
    """Return the SHA-256 over a file, or over all files below a folder. A missing part counts as zero bytes."""
    digest = hashlib.sha256()
    for path in filter(Path.is_file, sorted(part.rglob("*")) if part.is_dir() else [part]):
        digest.update(path.relative_to(part.parent).as_posix().encode("utf-8", "surrogateescape") + b"\0")
        digest.update(stored.hash_file(path))
    return digest.hexdigest()


class _Format(msgspec.Struct):
    format: int


class _Identity(msgspec.Struct):
    id: str


def make_file_name(path: str) -> str:
    """Return a unique and readable name, valid on every system, for the file that stores a source file's data."""
    # Most file systems limit names to 255 bytes.
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", path)[-80:].lstrip(".")
    # Several paths may have the same readable part, at least on a file system that ignores case: add a digest.
    return f"{readable}-{hashlib.blake2b(path.encode(), digest_size=6).hexdigest()}"


ACTIONS, SESSIONS = f".json{stored.SUFFIX}", f".jsonl{stored.SUFFIX}"
ACTIONS_KEY, END_OF_PART = b'"actions":[', b",\n"


def _packed_files(folder: Path, end: str) -> list[Path]:
    names = {path.name for path in folder.glob("*")} | stored.archived(folder).keys()
    return sorted(folder / name for name in names if name.endswith(end))


ENCODED_AT_ONCE = 10_000
"""The number of actions that are encoded at once. To encode all actions of a large file takes hundreds of MB."""


def pack_actions(of_file: FileActions) -> bytes:
    return pack_stream(replace(of_file, actions=()), of_file.actions)


def pack_stream(of_file: FileActions, actions: Iterable[Action]) -> bytes:
    """Return a file without actions, and its actions, as the content of a file of actions."""
    # The last two bytes of the head are `]}`: the actions are inserted before them.
    head = msgspec.json.encode(of_file)
    packer, size, separator = stored.Packer(stored.LEVEL_OF_ACTIONS), len(head), b""
    packer.add(head[:-2])
    iterator = iter(actions)
    while block := tuple(islice(iterator, ENCODED_AT_ONCE)):
        part = separator + msgspec.json.encode(block)[1:-1]
        # Readers decode a large file line by line.
        separator, size = END_OF_PART, size + len(part)
        packer.add(part)
    packer.add(head[-2:])
    if size > stored.ACTIONS:
        raise WorkspaceError(
            f"the actions of {of_file.path} take {size:,} bytes, but the limit is {stored.ACTIONS:,}: exclude "
            "the file with `actions.maxFileSize`, or make fewer actions with `actions.strategy`"
        )
    return packer.close()


def pack_sessions(source: SourceFile, sessions: Iterable[object]) -> bytes:
    return stored.pack(msgspec.json.encode(line) + b"\n" for line in chain((source,), sessions))


def read_head(path: Path) -> FileHead:
    return next(_parts(path, FileHead))


def iterate_actions(path: Path) -> Iterator[Action]:
    """Yield the actions of a file, decoded in parts, since all actions of a large file take more than 1 GB."""
    return chain.from_iterable(part.actions for part in _parts(path, FileActions))


def read_actions(path: Path) -> FileActions:
    first, *others = _parts(path, FileActions)
    return replace(first, actions=(*first.actions, *chain.from_iterable(part.actions for part in others)))


def read_items(path: Path) -> Iterator[Asked]:
    """Return the first question of each session, in order. Raises WorkspaceError."""
    calls = (action for part in _parts(path, FileAsked) for action in part.actions if action.session)
    return (next(lookups) for _, lookups in groupby(calls, key=attrgetter("session")))


@lru_cache(maxsize=2)
def _read_heads(folder: Path, _stamp: int) -> Mapping[Path, FileHead]:
    return {path: read_head(path) for path in Workspace(folder).action_files()}


def _parts(path: Path, kind: type[Head]) -> Iterator[Head]:
    """Yield the file in parts, each with the head and some of the actions. Raises WorkspaceError."""
    lines, head, is_last = stored.lines(path, stored.ACTIONS), b"", False
    while not is_last:
        line = head + next(lines, b"")
        # A file with few actions has a single line.
        is_last = not line.endswith(END_OF_PART)
        whole = line + b"".join(lines) if is_last else line.removesuffix(END_OF_PART) + b"]}"
        part = stored.decode_json(whole, kind, path)
        _check_inside(part.path, path)
        yield part
        head = head or line[: line.find(ACTIONS_KEY) + len(ACTIONS_KEY)]


def _sessions(lines: Iterator[bytes], kind: type[S], path: Path, source: SourceFile) -> Iterator[S]:
    seen: set[str] = set()
    for line in lines:
        session = stored.decode_json(line, kind, path)
        # A damaged or hostile file could repeat a session so that it counts several times.
        fault = " twice" if session.id in seen else ""
        if isinstance(session, SessionScore):
            if session.file != source.path:
                fault = fault or " of another file"
            elif not session.expected_text and session.properties.kind != Kind.RECORD:
                fault = fault or " without an expected text"
            elif any((lookup.rank or 0) > lookup.total for lookup in session.lookups):
                fault = fault or " whose rank is larger than its list"
        if fault:
            raise WorkspaceError(f"{path} holds session {session.id[:100]}{fault}: evaluate again")
        seen.add(session.id)
        if len(seen) > MOST_SESSIONS:
            raise WorkspaceError(f"{path} holds more than {MOST_SESSIONS:,} sessions, which ci-eval never writes")
        yield session


def _check_inside(path: str, file: Path) -> None:
    try:
        stored.inside(path)
    except ValueError as error:
        raise WorkspaceError(f"{file}: {error}") from error
