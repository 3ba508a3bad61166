"""Stage 1: source files → actions, the typing of each completable token as edits and completion calls."""

from __future__ import annotations

import gc
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import msgspec

from ci_eval.contracts import Language, Resolver
from ci_eval.errors import ConfigError
from ci_eval.model import (
    Action,
    ActionsConfig,
    CallCompletion,
    DeleteRange,
    FileActions,
    FileError,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrefixConfig,
    PrintText,
    ProjectInfo,
    StrategyConfig,
    Token,
)
from ci_eval.support import atomic
from ci_eval.support.document import NotText, checksum, decode
from ci_eval.support.filters import decide, needs_resolution
from ci_eval.support.workers import Outcome, Workers
from ci_eval.workspace import Workspace, pack_actions

NOT_SOURCE = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders that hold other people's code, beside hidden ones and the metadata of wheels."""

TIMEOUT = 120.0
"""Seconds one file may take; a grammar that needs more is stuck."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One source file, and what to do with it."""

    root: Path
    path: str
    project: str
    language: Language
    config: ActionsConfig
    cache: Path | None = None
    """Folder for what a type analysis found out about this project."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """What became of it."""

    path: str
    size: int
    unparsable: float
    kinds: Counter[str]
    packed: bytes


@dataclass
class Generated:
    """The sum over all files."""

    files: int = 0
    sessions: int = 0
    size: int = 0
    unparsable: float = 0.0
    """Bytes the grammar could not read."""
    kinds: Counter[str] = field(default_factory=Counter)


def generate(
    root: Path,
    project: ProjectInfo,
    language: Language,
    config: ActionsConfig,
    workspace: Workspace,
    *,
    jobs: int,
    cache: Path | None = None,
    advance: Callable[[int, int, Generated], None],
) -> Generated:
    """Write the actions of every file of the language. Calls `advance(done, of, so_far)` after each file.

    A file that cannot be read becomes an error in the workspace; the others go on. What took a type analysis
    to find out is kept below `cache`.
    """
    paths = list(source_files(root, language, config))
    properties = cache / "properties" / project.checksum if cache else None
    tasks = [
        Task(root=root, path=path, project=project.name, language=language, config=config, cache=properties)
        for path in paths
    ]
    so_far = Generated()
    with Workers(make, jobs=min(jobs, max(len(tasks) // 8, 1)), timeout=TIMEOUT) as workers:
        done = 0
        for outcome in workers.map(tasks):
            if outcome is not None:
                _keep(outcome, workspace, so_far)
                done += 1
            advance(done, len(tasks), so_far)
    return so_far


def _keep(outcome: Outcome[Task, Made | FileError], workspace: Workspace, so_far: Generated) -> None:
    result = outcome.result
    if result is None:
        result = FileError(path=outcome.task.path, stage="actions", message=outcome.trouble)
    if isinstance(result, FileError):
        workspace.write_error(result)
        return
    workspace.write_actions(result.path, result.packed)
    so_far.files += 1
    so_far.sessions += result.kinds.total()
    so_far.size += result.size
    so_far.unparsable += result.unparsable * result.size
    so_far.kinds += result.kinds


def source_files(root: Path, language: Language, config: ActionsConfig) -> Iterator[str]:
    """Their paths below the root, sorted. Raises ConfigError for an evaluation root that is not there."""
    ignored = NOT_SOURCE | set(config.ignore_file_names)
    found: set[str] = set()
    for given in config.evaluation_roots or (".",):
        start = root / given
        if not start.resolve().is_relative_to(root.resolve()) or not start.exists():
            raise ConfigError(
                f"actions.evaluationRoots: {given!r} is not in the project; paths are relative to its root"
            )
        found.update(_below(start, root, language.suffixes, ignored))
    return iter(sorted(found))


def _below(start: Path, root: Path, suffixes: Sequence[str], ignored: frozenset[str]) -> Iterator[str]:
    if start.is_file():
        yield start.relative_to(root).as_posix()
        return
    for folder, folders, files in os.walk(start):
        folders[:] = [n for n in folders if n not in ignored and not n.startswith(".") and not n.endswith(".dist-info")]
        for name in files:
            path = Path(folder, name)
            # A link may lead out of the project, and what it leads to inside is found anyway.
            if name.endswith(tuple(suffixes)) and name not in ignored and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def make(task: Task) -> Made | FileError:
    """The actions of one file, packed; or why there are none."""
    # Millions of small values are made and none of them is garbage: the collector would only look at them.
    gc.disable()
    try:
        return _make(task)
    except NotText as error:
        return FileError(path=task.path, stage="actions", message=str(error))
    except Exception as error:  # noqa: BLE001  trouble in one file is data, whatever it is
        return FileError(path=task.path, stage="actions", message=repr(error), trace=traceback.format_exc())
    finally:
        gc.enable()


def _make(task: Task) -> Made:
    data = (task.root / task.path).read_bytes()
    if len(data) > task.config.max_file_size:
        raise NotText(f"{len(data):,} bytes are more than actions.maxFileSize ({task.config.max_file_size:,})")
    text = decode(data)
    extraction = task.language.extract(text, task.path, {})
    strategy = task.config.strategy
    tokens: Sequence[Token] = extraction.tokens
    if task.language.resolve and needs_resolution(strategy.filters):
        tokens = _resolved(task, task.language.resolve, text, tokens)
    tokens = [token for token in tokens if decide(token.properties, strategy.filters)]
    actions = actions_of_file(task.project, task.path, text, tokens, strategy, extraction.unparsable)
    return Made(
        path=task.path,
        size=len(data),
        unparsable=extraction.unparsable,
        kinds=Counter(token.properties.kind.value for token in tokens),
        packed=pack_actions(actions),
    )


def _resolved(task: Task, resolve: Resolver, text: str, tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with all that can be known about them, from an earlier analysis where there was one."""
    key = "\0".join([task.language.name, task.language.resolver, task.path, checksum(text)])
    stored = task.cache / f"{blake2b(key.encode(), digest_size=16).hexdigest()}.json" if task.cache else None
    if stored and stored.exists():
        return msgspec.json.decode(stored.read_bytes(), type=tuple[Token, ...])
    found = resolve(task.root, task.path, text, tokens)
    if stored:
        atomic.write(stored, msgspec.json.encode(found))
    return found


# ------------------------------------------------------------------------------------------------- tokens → actions


def actions_of_file(
    project: str, path: str, text: str, tokens: Iterable[Token], strategy: StrategyConfig, unparsable: float
) -> FileActions:
    """The sessions of the tokens one after the other; each leaves the text as it was."""
    digest = checksum(text)
    base = blake2b("\0".join([project, path, digest, spelled(strategy), ""]).encode(), digest_size=8)
    actions: list[Action] = [OpenFile(path=path, checksum=digest)]
    sessions = 0
    for token in tokens:
        identity = base.copy()
        identity.update(f"{token.offset}\0{token.text}".encode())
        actions += actions_of_token(token, strategy.prefix, identity.hexdigest())
        sessions += 1
    return FileActions(path=path, checksum=digest, sessions=sessions, unparsable=unparsable, actions=tuple(actions))


def actions_of_token(token: Token, prefix: PrefixConfig, session: str) -> list[Action]:
    """Delete the token, type its prefix, ask, and put it back."""
    begin, text, known = token.offset, token.text, token.properties
    typed = prefix_of(text, prefix)
    actions: list[Action] = [DeleteRange(begin=begin, end=begin + len(text)), MoveCaret(offset=begin)]
    if prefix.emulate_typing:
        for i, character in enumerate(typed):
            actions.append(CallCompletion(session=session, prefix=typed[:i], expected_text=text, properties=known))
            actions.append(PrintText(text=character))
    elif typed:
        actions.append(PrintText(text=typed))
    actions.append(CallCompletion(session=session, prefix=typed, expected_text=text, properties=known))
    actions.append(FinishSession())
    if typed:
        actions.append(DeleteRange(begin=begin, end=begin + len(typed)))
    actions.append(PrintText(text=text))
    return actions


def prefix_of(text: str, prefix: PrefixConfig) -> str:
    """What is typed before completion is asked for."""
    if prefix.name == "SimplePrefix":
        return text[: prefix.n]
    if prefix.name == "CapitalizePrefix":
        return text[:1] + "".join(character for character in text[1:] if character.isupper())
    return ""


def spelled(strategy: StrategyConfig) -> str:
    """The strategy in one word, as far as it decides what one query looks like; part of the session's id."""
    prefix = strategy.prefix
    parts = [strategy.context, prefix.name + (f"({prefix.n})" if prefix.n else "")]
    return "/".join(parts + ["typing"] * prefix.emulate_typing)
