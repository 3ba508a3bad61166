"""The oracle of `reduce`: it decides whether an engine still shows the same miss in a smaller project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ci_eval.core import model
from ci_eval.core.base.errors import ConfigError, EngineFailure, NothingToEvaluate
from ci_eval.core.contracts import Language
from ci_eval.core.grammar.document import Document, checksum
from ci_eval.core.grammar.parsing import lost_bytes
from ci_eval.core.grammar.shrinking import Excerpt, Shrinker
from ci_eval.core.grammar.syntax import choose_grammar, parse_tree
from ci_eval.core.interpret.assignments import Assignment, Setup
from ci_eval.core.interpret.engines import Defining, KeptEngine
from ci_eval.core.interpret.player import Player
from ci_eval.core.model import CallCompletion, FileActions, Session, SourceFile
from ci_eval.core.report.causes import NOTHING, find_parts, make_placer
from ci_eval.core.scoring import rank_of

LEAST_RANK_SHARE = 0.5
"""The expected name may rise to this share of its first rank: a smaller project has fewer names above it."""


_RECEIVER = re.compile(r"(?<![\w.])(\w+)(?:\.\w+)*\.\Z")


class Question(msgspec.Struct, frozen=True):
    """A completion call at a caret in a file. The text between the caret and the offset `gap` is deleted."""

    call: CallCompletion
    path: str
    gap: int

    @classmethod
    def of_session(cls, actions: FileActions, text: str, session: Session) -> Question:
        """Return the session's last question. Raises ConfigError if it is not at one caret in the file's text."""
        document = Document(text)
        prefix = session.lookups[session.until - 1].prefix if session.lookups else None
        for action in actions.actions:
            if isinstance(action, model.MoveCaret | model.DeleteRange | model.PrintText):
                document.apply(action)
            elif isinstance(action, CallCompletion) and action.session == session.id:
                before, after = text[: action.offset] + action.prefix, document.text[document.caret :]
                is_plain = document.text[: document.caret] == before and text.endswith(after)
                if is_plain and prefix in {None, action.prefix}:
                    return cls(action, actions.path, len(text) - len(after))
        raise ConfigError(
            f"session {session.id} cannot be reduced: its last question is not at one caret of the file on disk; "
            "choose a session of the task completion, without `evolution`"
        )

    def actions(self, excerpt: Excerpt) -> FileActions | None:
        """Return the actions that ask the question in the remaining text; None if the expected text was cut."""
        call, begin = self.call, excerpt.find(self.call.offset)
        if begin is None or not excerpt.text.startswith(call.expected_text, begin):
            return None
        return FileActions(
            path=self.path,
            checksum=checksum(excerpt.text),
            sessions=1,
            unparsable=0.0,
            actions=(
                model.OpenFile(path=self.path, checksum=checksum(excerpt.text)),
                model.DeleteRange(begin=begin, end=excerpt.find_from(self.gap)),
                model.MoveCaret(offset=begin),
                model.PrintText(text=call.prefix),
                # A UseImport becomes a plain call, since no import is removed from an excerpt.
                CallCompletion(
                    session=call.session,
                    offset=begin,
                    prefix=call.prefix,
                    expected_text=call.expected_text,
                    properties=call.properties,
                ),
                model.FinishSession(),
            ),
        )


class Project(msgspec.Struct, frozen=True):
    """A project after cuts. `excerpts` has the files whose text was cut, and always the file with the caret."""

    files: frozenset[str]
    excerpts: Mapping[str, Excerpt]

    def with_excerpt(self, path: str, excerpt: Excerpt) -> Project:
        return replace(self, excerpts={**self.excerpts, path: excerpt})


class Folder:
    """A copy of the project. A removed file is moved to `aside`, so that it can be restored."""

    def __init__(self, root: Path, aside: Path) -> None:
        self.root, self._aside = root, aside
        self.files = frozenset(
            path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and not path.is_symlink()
        )
        self._shown: dict[str, str] | None = None

    def show(self, project: Project, edited: str) -> bool:
        """If a file other than `edited` changed, write the project and return True. The engine has `edited` open."""
        texts = {path: project.excerpts[path].text if path in project.excerpts else "" for path in project.files}
        del texts[edited]
        if texts == self._shown:
            return False
        self.write(project)
        self._shown = texts
        return True

    def write(self, project: Project) -> None:
        for path in self.files:
            here, aside = self.root / path, self._aside / path
            if (path in project.files) != here.exists():
                begin, end = (aside, here) if path in project.files else (here, aside)
                end.parent.mkdir(parents=True, exist_ok=True)
                begin.replace(end)
        for path in project.excerpts.keys() & project.files:
            (self.root / path).write_text(project.excerpts[path].text, encoding="utf-8", newline="\n")


class Symptom(NamedTuple):
    """The miss that must persist, with the class of the first suggestion and the rank of the expected text."""

    cause: str
    first: str
    rank: int | None

    def persists(self, now: Symptom) -> bool:
        if self.cause != now.cause:
            return False
        if self.rank is None or now.rank is None:
            # If the name is missing from the list, all that matters is whether the list is empty.
            return self.rank == now.rank and (self.first == NOTHING) == (now.first == NOTHING)
        return self.first == now.first and now.rank >= max(2, ceil(self.rank * LEAST_RANK_SHARE))


Definitions = frozenset[tuple[str, int]]
"""The file of each definition and the offset in it. Outside of the project, one number stands for line and column."""


@dataclass
class Oracle:
    setup: Setup
    folder: Folder
    question: Question
    language: Language
    kept: list[str] = field(default_factory=list)
    """The properties that each smaller version must share with the first one."""
    reason: str = ""
    """Why the last version does not show the same miss; "" if it does."""
    questions: int = 0
    last: Session | None = None

    def __post_init__(self) -> None:
        self.use(self.setup)

    def use(self, setup: Setup) -> None:
        """Use an engine with this setup from now on. The previous engine must be closed."""
        self.setup, self._engine = setup, KeptEngine(setup)

    def begin(self, project: Project) -> None:
        """Ask about the first version, and store what must not change. Raises NothingToEvaluate if it shows no miss."""
        self.folder.show(project, self.question.path)
        self.close()
        excerpt = project.excerpts[self.question.path]
        session = self._ask(excerpt)
        assert session
        symptom = self._symptom(session, excerpt)
        if symptom is None:
            raise NothingToEvaluate(
                f"session {session.id}: the engine now ranks {session.expected_text} first, so no miss is left"
            )
        self.symptom = symptom
        self._role = self._role_in(excerpt)
        self._scope = self._scope_of(excerpt)
        self.kept = ["each file still parses", "the syntax around the caret"]
        self._defined = frozenset[tuple[str, int]]()
        for what, self._defines_object in (("name", False), ("object before it", True)):
            if defined := self._define(project):
                self._defined = defined
                self.kept.append(f"the definition of the {what}, as {self.setup.engine.name} says")
                break
        else:
            self.kept.append("not the definition, which the engine does not know")
        if self._scope:
            self.kept.append(f"the scope of the name, or of the object before it ({self._scope})")

    def holds(self, project: Project) -> bool:
        self.reason = self._differs(project, project.excerpts[self.question.path])
        return not self.reason

    def _differs(self, project: Project, excerpt: Excerpt) -> str:
        if self.question.actions(excerpt) is None or self._role_in(excerpt) != self._role:
            return "another syntax around the caret"
        if self._scope_of(excerpt) != self._scope:
            return "another scope"
        if self.folder.show(project, self.question.path):
            # Restart the engine, since not all engines notice changes in other files.
            self.close()
        session = self._ask(excerpt)
        if session is None or not (now := self._symptom(session, excerpt)) or not self.symptom.persists(now):
            return "no longer missed, or for another cause"
        if self._defined:
            defined = self._define(project)
            if not defined or not defined <= self._defined:
                return "defined elsewhere"
        return ""

    def _ask(self, excerpt: Excerpt) -> Session | None:
        if (actions := self.question.actions(excerpt)) is None:
            return None
        self.questions += 1
        path, among = self.question.path, frozenset({self.question.call.session})
        assignment = Assignment(setup=self._engine.setup, actions=Path(), path=path, sessions=1, below=1.0, among=among)
        self.last = next(Player(assignment, Document(excerpt.text), self._engine).play(actions.actions), None)
        return self.last

    def _define(self, project: Project) -> Definitions:
        """Return where the name, or the object before it, is defined; empty if the engine does not say."""
        path = self.question.path
        excerpt = project.excerpts[path]
        is_object = self._defines_object
        offset = self.shrinker(path, excerpt).receiver() if is_object else excerpt.find(self.question.call.offset)
        try:
            running: object = self._engine.running()
            if not isinstance(running, Defining) or offset is None:
                return frozenset()
            self.questions += 1
            self._engine.running().open(path, excerpt.text)
            defined = running.define(offset)
        except EngineFailure as error:
            # An engine that fails counts as one that knows no definitions.
            if error.restart:
                self._engine.close()
            return frozenset()
        # An engine may unpack its own files into another folder at each start, so only their names count.
        return frozenset(
            (path if path in project.files else Path(path).name, self._origin(path, line, column, project))
            for path, line, column in defined
        )

    def _origin(self, path: str, line: int, column: int, project: Project) -> int:
        text = project.excerpts[path].text if path in project.excerpts else ""
        if not text and path in project.files:
            text = (self.setup.root / path).read_text(encoding="utf-8", errors="replace")
        offset = sum(len(row) + 1 for row in text.split("\n")[:line]) + column
        if path in project.excerpts:
            return project.excerpts[path].origins[offset] if offset < len(text) else -1
        return offset if text else line * 10_000 + column

    def _symptom(self, session: Session, excerpt: Excerpt) -> Symptom | None:
        source = SourceFile(path=self.question.path, checksum="", text=excerpt.text)
        parts = find_parts(make_placer(source, self.language)(session), ())
        return Symptom(parts[0].cause, parts[0].first, rank_of(session)) if parts else None

    def _scope_of(self, excerpt: Excerpt) -> str:
        offset, see = excerpt.find(self.question.call.offset), self.language.see_names
        if offset is None or see is None:
            return ""
        name, receiver = self.question.call.expected_text, _RECEIVER.search(excerpt.text[:offset])
        if receiver:
            offset, name = receiver.start(1), receiver[1]
        return see(excerpt.text, self.question.path).origin(offset, name)

    def count_errors(self, path: str, text: str) -> tuple[int, int]:
        grammar, syntax = choose_grammar(self.language.grammars, path), self.language.import_syntax
        own = syntax.errors(text, grammar) if syntax and syntax.errors else 0
        return lost_bytes(parse_tree(text.encode(), grammar).root_node), own

    def shrinker(self, path: str, excerpt: Excerpt) -> Shrinker:
        begin = excerpt.find(self.question.call.offset) if path == self.question.path else None
        token = None if begin is None else (begin, begin + len(self.question.call.expected_text))
        return Shrinker(excerpt, choose_grammar(self.language.grammars, path), token)

    def _role_in(self, excerpt: Excerpt) -> tuple[str, ...]:
        return self.shrinker(self.question.path, excerpt).role()

    def close(self) -> None:
        self._engine.close()
