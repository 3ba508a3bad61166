"""The first stage: turn source files into actions, the edits and completion calls that type completable tokens."""

from __future__ import annotations

import gc
import os
import re
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from ci_eval import __version__
from ci_eval.core.actions.files import Attribute, Source, declarations, find_left_out, read_attributes, source_files
from ci_eval.core.actions.sample import (
    FEWEST_FILES,
    Found,
    Sample,
    SampleGoal,
    Targets,
    count_slots,
    draw_sample,
    may_begin,
)
from ci_eval.core.actions.strategy import stream_actions
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.base.files import read_own
from ci_eval.core.contracts import Declarations, Language, Resolver, Task
from ci_eval.core.filters import decide, needs_resolution
from ci_eval.core.grammar.document import NotText, OtherEncoding, check_lines, checksum, decode_file
from ci_eval.core.grammar.tokens import every_token, find_silent_places
from ci_eval.core.model.report import ProjectInfo
from ci_eval.core.model.sessions import Action, CallCompletion, FileError
from ci_eval.core.model.settings import ActionsConfig, FiltersConfig
from ci_eval.core.model.tokens import Kind, Location, Properties, Sampling, Token, Vocabulary
from ci_eval.core.workers import Workers
from ci_eval.core.workspace import Workspace, pack_stream


class Texts(msgspec.Struct):
    tokens: int = 0
    files: Counter[str] = msgspec.field(default_factory=Counter)
    alone: dict[str, int] = msgspec.field(default_factory=dict)
    """Text → number of occurrences, for texts that occur in a single file."""

    def add(self, of_file: Mapping[str, int]) -> None:
        self.files.update(of_file.keys())
        for text, times in of_file.items():
            self.tokens += times
            if self.files[text] == 1:
                self.alone[text] = times
            else:
                # The text now occurs in two files.
                self.alone.pop(text, None)

    def summed(self) -> Vocabulary | None:
        if not self.tokens:
            return None
        return Vocabulary(
            tokens=self.tokens,
            texts=len(self.files),
            open=sum(self.alone.values()) / self.tokens,
            new=len(self.alone) / self.tokens,
        )


_WORDS = re.compile(r"\w+")


def mark_first_uses(text: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with `first_use` set: True if a token's text is not a whole word anywhere before the token."""
    seen, read = set[str](), 0
    known: dict[tuple[int, bool], Properties] = {}
    marked = []
    for token in tokens:
        own, begin = token.text, token.offset
        is_first = False
        if own not in seen:
            # A token may continue a word, as the `?` of `empty?` does. Only words before that word are counted then.
            end = begin
            while end and _WORDS.fullmatch(text, end - 1, end + 1):
                end -= 1
            # Tokens are in order, so each stretch of the text is read once.
            seen.update(_WORDS.findall(text, read, end))
            read = end
            # A text that is not a whole word (`empty?`, `@name`) is searched for as it is.
            is_word = end == begin and _WORDS.fullmatch(own)
            is_first = own not in seen if is_word else text.find(own) == begin
            if end == begin:
                seen.add(own)
        # Many tokens have equal properties, so each different value is made once.
        key = (id(token.properties), is_first)
        properties = known.get(key)
        if properties is None:
            properties = known[key] = replace(token.properties, first_use=is_first)
        marked.append(Token(offset=begin, text=own, properties=properties))
    return marked


_KIND = attrgetter("properties.kind")

TIMEOUT = 120.0
"""The time limit for one file, in seconds. A parser that needs more time hangs."""


class SourceTree(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    name: str
    language: Language
    config: ActionsConfig
    declared: Declarations
    task: Task
    seed: int = 0
    cache: Path | None = None
    slots: int = 1
    """The number of slots of each character (see `sample.py`)."""
    attributes: Sequence[Attribute] | None = None
    """The attributes for `find_left_out`, which yields the files without sessions; None = all files have sessions."""

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], SourceTree], tuple[dict[str, Any]]]:
        # pickle would remember every name until the end, which takes four times the memory of the names as JSON.
        fields = asdict(self)
        # Names that are not UTF-8 are pickled as they are.
        with suppress(UnicodeEncodeError):
            fields["declared"] = msgspec.json.encode(self.declared)
        return _unpickle, (fields,)


def _unpickle(fields: dict[str, Any]) -> SourceTree:
    if isinstance(declared := fields["declared"], bytes):
        fields["declared"] = msgspec.json.decode(declared, type=dict[str, frozenset[str]])
    return SourceTree(**fields)


WORST = 10


class GeneratedFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    size: int
    unparsable: float
    sessions: int
    kinds: Counter[str]
    packed: bytes
    trouble: str = ""
    """The reason why a rewriting of the text was dropped."""
    texts: Counter[str] = msgspec.field(default_factory=Counter)
    darts: int = 0
    """The number of characters that darts hit and at which a token may begin."""
    hits: tuple[tuple[int, Kind, int], ...] = ()
    """The slot, the kind and the letters typed at the first lookup, for each session that a dart hit."""
    left_out: str = ""


class Generated(msgspec.Struct):
    files: int = 0
    sessions: int = 0
    size: int = 0
    unparsable: float = 0.0
    """The number of bytes that the grammar could not read."""
    lost: dict[str, float] = msgspec.field(default_factory=dict)
    shares: dict[str, float] = msgspec.field(default_factory=dict)
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    texts: Texts = msgspec.field(default_factory=Texts)
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    """"generated" or "vendored" → number of files that are not evaluated."""
    sampling: Sampling | None = None

    def add_size(self, path: str, size: int, unparsable: float) -> None:
        self.size += size
        self.unparsable += unparsable * size
        if unparsable * size:
            self.lost[path] = unparsable * size
            self.shares[path] = unparsable

    def worst(self) -> dict[str, float]:
        """Return file → unreadable share for the WORST files with the most unreadable bytes, the worst first."""
        paths = sorted(self.lost, key=lambda path: (-self.lost[path], path))
        return {path: self.shares[path] for path in paths[:WORST]}


def generate(
    root: Path,
    project: ProjectInfo,
    language: Language,
    config: ActionsConfig,
    workspace: Workspace,
    *,
    jobs: int,
    task: Task,
    seed: int = 0,
    cache: Path | None = None,
    with_generated: bool = False,
    goal: SampleGoal | None = None,
    advance: Callable[[int, int, Generated], None],
) -> Generated:
    """Write the actions of all source files into the workspace, and an error for each file that cannot be read.

    Call `advance(done, of, so_far)` after each file. Type analyses are stored below `cache`. `with_generated`: include
    generated and vendored files. `goal`: the sample of sessions that suffices; a sample is drawn if that saves time.
    """
    properties = cache / "properties" / project.checksum if cache else None
    drawn, sample_path = None, None
    # The project's checksum covers neither hidden folders nor links, so a sample with files of these is not stored.
    starts, whole = map(PurePosixPath, config.evaluation_roots), root.resolve()
    uncovered = any(
        any(part.startswith(".") for part in start.parts) or (whole / start).resolve() != whole / start
        for start in starts
    )
    if goal and properties and not uncovered:
        parts = (__version__, language.name, language.resolver, task.name, config, seed, with_generated)
        key = msgspec.json.encode([*parts, goal.limit, goal.probability, goal.classes])
        sample_path = properties / f"sample-{blake2b(key, digest_size=16).hexdigest()}.json"
        # If the file is missing or damaged, the sample is drawn again.
        with suppress(OSError, msgspec.MsgspecError):
            drawn = msgspec.json.decode(sample_path.read_bytes(), type=_Drawn)
    paths, candidates = [], [] if drawn else list(source_files(root, language, config))
    is_large = drawn is not None or len(candidates) >= FEWEST_FILES
    job = SourceTree(
        root=root,
        name=project.identity_name,
        language=language,
        config=config,
        declared=declarations(root, language, config, properties if is_large else None),
        task=task,
        seed=seed,
        cache=properties,
        slots=count_slots(config.strategy, task),
    )
    if goal and job.slots and is_large:
        if drawn is None:
            attributes = None if with_generated else list(read_attributes(root))
            drawn = _draw(replace(job, attributes=attributes), candidates, goal, jobs, advance)
            if drawn and sample_path:
                # If the cache cannot be written, the next run only takes longer.
                with suppress(WorkspaceError):
                    atomic.write(sample_path, msgspec.json.encode(drawn))
        if drawn:
            return _generate_sample(job, drawn, workspace, jobs, advance)
    left_out = {} if with_generated else dict(find_left_out(root, candidates, config.evaluation_roots))
    for path in candidates:
        if path in left_out:
            continue
        # File names are stored as JSON, which is UTF-8.
        shown = path.encode(errors="backslashreplace").decode()
        if shown == path:
            paths.append(path)
        else:
            workspace.write_error(FileError(path=shown, stage="actions", message="the file's name is not UTF-8"))
    so_far = Generated(left_out=Counter(left_out.values()))
    done = 0
    for result in _run(job, [(path, None) for path in paths], jobs):
        if result is not None:
            _keep(result, workspace, so_far)
            done += 1
        advance(done, len(paths), so_far)
    return so_far


def _run(job: SourceTree, targets: Sequence[Targets], jobs: int) -> Iterator[GeneratedFile | FileError | None]:
    """Yield results as they arrive, and None from time to time while waiting."""
    # For only a few files, the start of a process takes longer than it saves.
    jobs = min(jobs, max(len(targets) // 8, 1))
    with Workers[Targets, GeneratedFile | FileError](
        make_at, jobs=jobs, timeout=TIMEOUT, tries=2, shared=(job,)
    ) as workers:
        for outcome in workers.map(deque(targets)):
            if outcome is None:
                yield None
            else:
                yield outcome.result or FileError(path=outcome.task[0], stage="actions", message=outcome.trouble)


class _Drawn(msgspec.Struct):
    """A sample of sessions, and the errors, excluded files, and unreadable text that were found while it was drawn."""

    sample: Sample
    errors: list[FileError]
    left_out: dict[str, str]
    lost: dict[str, float]
    shares: dict[str, float]
    darts: int
    lost_darts: float


def _draw(
    job: SourceTree,
    candidates: Sequence[str],
    goal: SampleGoal,
    jobs: int,
    advance: Callable[[int, int, Generated], None],
) -> _Drawn | None:
    """Draw a sample of sessions; return None if sampling saves no time."""
    so_far, sizes, done = Generated(), dict[str, int](), 0
    lost, darts, errors, left_out = 0.0, 0, list[FileError](), dict[str, str]()
    for path in candidates:
        # If all files are parsed later, the error is reported then.
        with suppress(OSError, UnicodeEncodeError):
            path.encode()
            sizes[path] = os.stat(f"{job.root}/{path}").st_size * job.slots  # noqa: PTH116  as a Path, twice as slow

    def find(targets: Sequence[Targets]) -> Iterator[Found]:
        nonlocal done, lost, darts, left_out
        of = done + len(targets)
        for result in _run(job, targets, jobs):
            advance(done, of, so_far)
            if result is None:
                continue
            done += 1
            if isinstance(result, FileError):
                errors.append(result)
                darts, lost = darts + 1, lost + bool(result.lost)
                so_far.add_size(result.path, result.lost, 1.0)
                yield result.path, True, ()
            else:
                left_out |= {result.path: result.left_out} if result.left_out else {}
                so_far.sessions += len(result.hits)
                darts, lost = darts + result.darts, lost + result.darts * result.unparsable
                so_far.add_size(result.path, result.size, result.unparsable)
                yield result.path, result.darts > 0, result.hits

    sample = draw_sample(sizes, job.seed, goal, find)
    if sample is None:
        return None
    return _Drawn(sample, errors, left_out, so_far.lost, so_far.shares, darts, lost)


def _generate_sample(
    job: SourceTree, drawn: _Drawn, workspace: Workspace, jobs: int, advance: Callable[[int, int, Generated], None]
) -> Generated:
    slots, made = drawn.sample.slots, Generated(left_out=Counter(drawn.left_out.values()))
    for error in drawn.errors:
        workspace.write_error(error)
    for result in _run(job, [*slots.items()], jobs):
        if result is not None:
            _keep(result, workspace, made)
            advance(made.files, len(slots), made)
    # Large files are hit more often, so the mean over darts estimates the share of the whole text.
    made.lost, made.shares, made.size, made.unparsable = drawn.lost, drawn.shares, drawn.darts, drawn.lost_darts
    made.sampling = drawn.sample.sampling
    return made


def _keep(result: GeneratedFile | FileError, workspace: Workspace, so_far: Generated) -> None:
    if isinstance(result, FileError):
        workspace.write_error(result)
        so_far.add_size(result.path, result.lost, 1.0)
        return
    if result.trouble:
        workspace.write_error(FileError(path=result.path, stage="actions", message=result.trouble))
    workspace.write_actions(result.path, result.packed)
    so_far.files += 1
    so_far.sessions += result.sessions
    so_far.add_size(result.path, result.size, result.unparsable)
    so_far.kinds += result.kinds
    so_far.texts.add(result.texts)


def make_at(project: SourceTree, targets: Targets) -> GeneratedFile | FileError:
    """Make the actions of a file. `targets`: the file, and the slots of the sessions to make (None = all)."""
    return make(project, *targets)


def make(project: SourceTree, path: str, slots: Collection[int] | None = None) -> GeneratedFile | FileError:
    # Garbage collection would scan millions of small values, none of which is garbage.
    gc.disable()
    data = b""
    try:
        data = read_own(project.root, path)
        limit = project.config.max_file_size
        if len(data) > limit:
            raise NotText(f"{len(data):,} bytes are more than `actions.maxFileSize` ({limit:,})")
        text = decode_file(project.root, path, data)
        check_lines(text)
        unread = GeneratedFile(path=path, size=len(data), unparsable=0.0, sessions=0, kinds=Counter(), packed=b"")
        ranks: dict[int, set[int]] | None = None
        if slots is not None:
            ranks = {}
            for offset, rank in (divmod(slot, project.slots) for slot in slots):
                if may_begin(text, offset):
                    ranks.setdefault(offset, set()).add(rank)
            if not ranks:
                return unread
            if project.attributes is not None:
                roots = project.config.evaluation_roots
                for _, kind in find_left_out(project.root, [path], roots, project.attributes):
                    return replace(unread, left_out=kind)
        extraction = project.language.extract(text, path, project.declared)
        source = Source(project=project.name, path=path, text=text, language=project.language, seed=project.seed)
        strategy = project.config.strategy
        every, keywords = project.task.every_token, project.language.keywords
        all_tokens = every_token(text, source.grammar, keywords, extraction.tokens) if every else extraction.tokens
        # A filter may ask for first uses, so they are marked before tokens are chosen.
        tokens: Sequence[Token] = mark_first_uses(text, all_tokens)
        if project.task.of_silence:
            tokens = find_silent_places(text, source.grammar, tokens, strategy.places.silent)
        if project.language.resolve and needs_resolution(strategy.filters):
            tokens = _resolve_tokens(project, project.language.resolve, source, tokens)
        chosen = tokens
        if strategy.filters != FiltersConfig():
            chosen = [token for token in tokens if decide(token.properties, token.text, strategy.filters)]
        if ranks is not None:
            chosen = [token for token in chosen if token.offset in ranks]
        head, actions = stream_actions(source, chosen, strategy, extraction.unparsable, project.task, ranks)
        # Only the few actions of a sample are read twice.
        of_sample = () if ranks is None else tuple(actions)
        return GeneratedFile(
            path=path,
            size=len(data),
            unparsable=extraction.unparsable,
            sessions=head.sessions,
            kinds=Counter({kind.value: count for kind, count in Counter(map(_KIND, chosen)).items()}),
            packed=pack_stream(head, of_sample or actions),
            trouble=extraction.trouble,
            texts=Counter(token.text for token in chosen) if every else Counter(),
            darts=len(ranks or ()),
            hits=_list_hits(of_sample, project),
        )
    except OtherEncoding as error:
        return FileError(path=path, stage="actions", message=str(error), lost=len(data))
    except (NotText, WorkspaceError) as error:
        return FileError(path=path, stage="actions", message=str(error))
    except Exception as error:  # noqa: BLE001  trouble in one file is data, whatever it is
        return FileError(path=path, stage="actions", message=repr(error), trace=traceback.format_exc())
    finally:
        gc.enable()


def _list_hits(actions: Iterable[Action], project: SourceTree) -> tuple[tuple[int, Kind, int], ...]:
    first: dict[str, CallCompletion] = {}
    for action in actions:
        if isinstance(action, CallCompletion):
            first.setdefault(action.session, action)
    lengths = sorted(set(project.config.strategy.prefix.lengths or ())) if project.slots > 1 else []
    return tuple(
        (
            call.offset * project.slots + (lengths.index(len(call.prefix)) if lengths else 0),
            call.properties.kind,
            len(call.prefix),
        )
        for call in first.values()
    )


def _resolve_tokens(project: SourceTree, resolve: Resolver, source: Source, tokens: Sequence[Token]) -> Sequence[Token]:
    # The digest covers the text, so a changed file is analysed again.
    key = "\0".join([project.language.name, project.language.resolver, source.path, checksum(source.text)])
    stored = project.cache / f"{blake2b(key.encode(), digest_size=16).hexdigest()}.json" if project.cache else None
    if stored:
        # If the stored result is missing or damaged, the analysis runs again.
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(stored.read_bytes(), type=tuple[Token, ...])
    resolved = []
    for token in resolve(project.root, source.path, source.text, tokens):
        known = token.properties
        # The analysis finds packages; only the project knows which packages are its own.
        if known.package is not None and known.location is None:
            whose: Location = "project" if known.package in project.declared else "library"
            token = replace(token, properties=replace(known, location=whose))
        resolved.append(token)
    if stored:
        # If the cache cannot be written, the next run only takes longer.
        with suppress(WorkspaceError):
            atomic.write(stored, msgspec.json.encode(resolved))
    return resolved
