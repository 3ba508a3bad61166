"""The player, which plays the actions of a file and asks the engine."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import errors
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import Answer, Edit, Query, Running
from ci_eval.core.grammar.document import EDITS, Document, difference
from ci_eval.core.interpret.assignments import Assignment, completes, find_record, make_session, record_of_lookup
from ci_eval.core.interpret.clients import LONGEST
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.interpret.grading import Acceptances, FileChanges
from ci_eval.core.interpret.listview import DisplayedList, ListView, RecordCarets, settle_tail
from ci_eval.core.interpret.pack import SessionEnd
from ci_eval.core.logs import Log, Logged, LoggedSession
from ci_eval.core.logs.features import COLUMN
from ci_eval.core.model import (
    FAILED,
    UNASKED,
    Action,
    CallCompletion,
    DeleteRange,
    FinishSession,
    Lookup,
    MoveCaret,
    OpenFile,
    PlayItem,
    PrintText,
    Record,
    Session,
    Status,
    Suggestion,
    Usage,
    UseImport,
)
from ci_eval.core.model.sessions import count_keys
from ci_eval.core.tracing import Trace, attach_listener
from ci_eval.core.user_model import Emulated, Possible
from ci_eval.core.workers import CPU_LIMIT_S, limit_cpu

MOST_RESOLVED = 5
"""In each list, the edits of at most this number of suggestions are requested one by one."""
PATIENCE = 5
"""The number of consecutive failed sessions after which a file is given up."""
NO_TRACE = nullcontext()
_STATUSES = {
    errors.EngineTimeout: Status.TIMEOUT,
    errors.BudgetSpent: Status.SKIPPED,
    errors.ContextTooLong: Status.CONTEXT_TOO_LONG,
    errors.EngineCrash: Status.ENGINE_CRASH,
}
"""Failure of an engine → status of the session in which it occurs."""
MOST_MESSAGES = 500
"""The maximum number of lines of a session's trace that are stored."""


class OpenSession(msgspec.Struct):
    call: CallCompletion | PlayItem
    possible: Possible | None = None
    drawn: Emulated | None = None
    lookups: list[Lookup] = msgspec.field(default_factory=list)
    logged: list[Logged] = msgspec.field(default_factory=list)
    failure: tuple[Status, str] | None = None
    messages: list[str] = msgspec.field(default_factory=list)
    trace: Trace | None = None

    def keep(self, line: str) -> None:
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(line)
        elif len(self.messages) == MOST_MESSAGES:
            self.messages.append("… and more")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    prefix: str
    expected: str
    continues: bool = False


class _Editor:
    def __init__(self, player: Player, session: OpenSession) -> None:
        self._player = player
        self._session = session
        self.typed = 0

    def type(self, text: str) -> None:
        self._player.document.insert(text)
        self.typed += len(text)

    def ask(self, prefix: str, expected: str) -> Lookup | None:
        return self._player.ask(Question(prefix=prefix, expected=expected), self._session)


class Player:
    """A player that applies the actions of one file to a document, and asks the engine about it."""

    def __init__(
        self,
        assignment: Assignment,
        document: Document,
        engine: KeptEngine,
        log: Log | None = None,
        repeated: Collection[str] = (),
    ) -> None:
        """`repeated`: the sessions that may be passed to `play_again`."""
        self.document = document
        self._text = document.text
        self._log = log
        setup = assignment.setup
        around = setup.surroundings
        self._grading = engine.grading
        self._view = ListView(setup, assignment.path, document.text)
        self._carets = RecordCarets(setup)
        self._acceptances = Acceptances(around, assignment.path, document.text) if setup.task.of_imports else None
        self._changes = FileChanges(around.language)
        self.engine_time = 0.0
        self._assignment = assignment
        self._setup = setup
        self._engine = engine
        self._opened = False
        self._cold = False
        self._is_stuck = False
        """True if the engine did not answer a question about edits in time, and must be restarted."""
        self._open: OpenSession | None = None
        self._is_inside = setup.task.span == "around"
        """True if the token is already in the code, and the caret is inside the token."""
        self.known: set[str] = set()
        self._repeated = repeated
        self._begins: dict[str, tuple[list[Action], Edit, int, int]] = {}
        """Repeated session → its actions, and before them: the edit of the file's text, caret, prefix length."""
        self._repeating: list[Action] | None = None
        self._failures = 0
        self._last_failure: tuple[Status, str] = (Status.ERROR, "")

    def take_over(self, ended: SessionEnd) -> None:
        self.known.add(ended.id)
        self._count(ended.status, ended.message)

    def _count(self, status: Status, message: str) -> None:
        if status in FAILED:
            self._failures += 1
            # Later sessions are not asked, so their messages do not name the cause.
            if self._failures <= PATIENCE:
                self._last_failure = (status, message)
        elif status not in UNASKED:
            self._failures = 0

    def play_again(self, sessions: frozenset[str]) -> Iterator[Session]:
        """Ask sessions of the file again after `play`, in the same engine process and without logging. The file stays
        open in the engine, and actions between the sessions are skipped."""
        if self._failures >= PATIENCE or not sessions:
            return
        self._assignment = msgspec.structs.replace(
            self._assignment, among=sessions, given_up={}, round=self._assignment.round + 1
        )
        self._log, self.known = None, set()
        begins = [begin for session, begin in self._begins.items() if session in sessions]
        for actions, (begin, deleted, inserted), caret, prefix in begins:
            text, typed = self._text[:begin] + inserted + self._text[begin + deleted :], caret - prefix
            self.document.jump(text[:typed] + text[caret:], typed)
            # The prefix is typed as it was the first time: servers look at what was typed last.
            if prefix:
                self.document.insert(text[typed:caret])
            yield from self.play(actions)

    def play(self, actions: Iterable[Action]) -> Iterator[Session]:
        apply = self.document.apply
        for action in actions:
            if self._repeating is not None:
                self._repeating.append(action)
            # Most actions are edits, and each test for another type than the action's takes long.
            if type(action) in EDITS:
                apply(action)
                continue
            match action:
                case CallCompletion():
                    is_asked = self._begin(action)
                    session = self._open
                    if is_asked and session and (not session.possible or session.possible.asks(action.prefix)):
                        continues = bool(session.lookups) and self._view.keeps
                        question = Question(prefix=action.prefix, expected=action.expected_text, continues=continues)
                        self.ask(question, session)
                case FinishSession():
                    ended, self._open, self._repeating = self._open, None, None
                    if ended:
                        yield self._finish(ended)
                case PlayItem():
                    typed = 0
                    if self._begin(action) and self._open and self._setup.task.play:
                        editor = _Editor(self, self._open)
                        self._setup.task.play(action, editor)
                        typed = editor.typed
                    # The task may have typed the beginning of the text.
                    self.document.insert(action.expected_text[typed:])
                case OpenFile():
                    self._opened = False
                case MoveCaret() | DeleteRange() | PrintText():
                    pass

    def _begin(self, call: CallCompletion | PlayItem) -> bool:
        """Open the call's session if it is chosen and not yet open. Return whether the engine may be asked."""
        if self._open is None:
            if call.session in self._repeated and call.session not in self._begins:
                edit = difference(self._text, self.document.text)
                prefix = len(call.prefix) if isinstance(call, CallCompletion) and not self._is_inside else 0
                self._repeating = [call]
                self._begins[call.session] = (self._repeating, edit, self.document.caret, prefix)
            if call.session in self.known or not self._assignment.chooses(call.session):
                return False
            model, length = self._setup.user, len(call.expected_text)
            self._open = OpenSession(
                call,
                possible=Possible(model, length) if model else None,
                drawn=Emulated(model, self._setup.settings.seed, call.session, length) if model and self._log else None,
                failure=self._assignment.given_up.get(call.session),
            )
            if self._setup.settings.trace:
                self._open.trace = Trace(self._open.keep, full=False)
            if self._carets.has_no_place(find_record(call)):
                self._open.failure = (Status.NO_PLACE, "")
                return False
        if self._failures >= PATIENCE:
            status, why = self._last_failure
            self._open.failure = (status, f"not asked: {PATIENCE} sessions in a row had failed; the last one: {why}")
        return True

    def ask(self, question: Question, session: OpenSession) -> Lookup | None:
        if session.failure:
            return None
        started = time.perf_counter()
        try:
            with limit_cpu(self._setup.surroundings.timeout + CPU_LIMIT_S):
                with self._engine.asked, attach_listener(session.trace) if session.trace else NO_TRACE:
                    engine, record = self._engine.running(), self._record_of_next(session)
                    if caret := self._carets.caret(record):
                        self._cold = self._carets.open is None
                        answer = self._carets.answer(engine, caret, self._assignment.round)
                    else:
                        answer = engine.complete(self._make_query(engine, question, record))
                        if self._acceptances is not None and isinstance(session.call, UseImport):
                            text, at = self.document.text, self.document.caret
                            graded = self._acceptances.grade(answer.suggestions, session.call, text, at)
                            answer = replace(answer, suggestions=graded)
                    # A single infinite time would spoil every mean.
                    if not math.isfinite(answer.latency):
                        raise errors.EngineMisbehaved(
                            f"{self._setup.engine.name} reported a latency of {answer.latency} ms"
                        )
                self._engine.dropped += answer.dropped
                lookup = self._lookup(question, answer, session)
            if self._is_stuck:
                self._restart()
        except errors.EngineFailure as error:
            statuses = (status for kind, status in _STATUSES.items() if isinstance(error, kind))
            session.failure = (next(statuses, Status.ERROR), str(error))
            if isinstance(error, errors.EngineTimeout):
                # No answer came before the time limit, which is stored as the latency (a censored value).
                limit = self._setup.surroundings.timeout * 1000
                session.lookups.append(
                    Lookup(prefix=question.prefix, suggestions=(), total=0, rank=None, latency=limit, cold=self._cold)
                )
            if error.restart:
                self._restart()
            return None
        except Exception as error:  # noqa: BLE001  a bug of ours or of a completion type fails only this session
            session.failure = (Status.ERROR, _last_line(error))
            self._restart()
            return None
        finally:
            self.engine_time += time.perf_counter() - started
        return self._grade(lookup, session)

    def _grade(self, lookup: Lookup, session: OpenSession) -> Lookup | None:
        call = session.call
        try:
            record = self._record_of_next(session)
            at_caret = completes(self._setup, record)
            with limit_cpu(self._setup.surroundings.timeout + CPU_LIMIT_S):
                graded = self._grading.grade(
                    call.expected_text,
                    record,
                    lookup,
                    (self._text, call.offset),
                    at_caret=at_caret,
                    language=call.properties.language,
                )
        except Exception as error:  # noqa: BLE001  an answer that cannot be graded must not count as a bad answer
            why = str(error) if isinstance(error, errors.CiEvalError) else _last_line(error)
            session.failure = (Status.ERROR, f"not graded: {why}")
            return None
        session.lookups.append(graded)
        return lookup

    def _record_of_next(self, session: OpenSession) -> Record | None:
        return record_of_lookup(self._setup.task, find_record(session.call), len(session.lookups))

    def _make_query(self, engine: Running, question: Question, record: Record | None) -> Query:
        edits = self.document.take_edits()
        self._cold = not self._opened
        if self._opened:
            engine.edit(edits)
        else:
            engine.open(self._assignment.path, self.document.text)
            self._opened = True
        span = self._setup.task.span
        return Query(
            offset=self.document.caret,
            prefix=question.prefix,
            expected=self._setup.task.write(question.expected) if self._setup.task.write else question.expected,
            continues=question.continues,
            removed=self._open.call.removed if self._open and isinstance(self._open.call, UseImport) else None,
            record=record,
            # Even in a task of single lines, a dataset may expect several lines; then the whole answer counts.
            span="text" if record or (span == "line" and "\n" in question.expected) else span,
            word=self._setup.surroundings.word,
            repeat=self._assignment.round,
        )

    def _restart(self) -> None:
        self._opened = self._is_stuck = False
        self._carets.open = None
        self._engine.restart()

    def _lookup(self, question: Question, answer: Answer, session: OpenSession) -> Lookup:
        task, record = self._setup.task, self._record_of_next(session)
        caret = self._carets.caret(record)
        text = answer.suggestions[0].text if task.read and not caret and answer.suggestions else ""
        raw, usage = answer.raw or text, answer.usage
        if caret:
            shown = self._carets.show(answer.suggestions, caret, len(session.lookups))
        else:
            suggestions = answer.suggestions
            if text and task.read and record:
                readings = task.read(text, record)
                suggestions = readings or ()
                if readings is None:
                    usage = replace(usage or Usage(), unreadable=True)
            if usage and task.read and suggestions:
                usage = replace(usage, read=(*usage.read, suggestions[0].kind))
            shown = self._show(suggestions, question.prefix, answer.typed, session)
            if answer.find_edits and (offers := _choose_unknown(suggestions, shown.suggestions[:1], question.expected)):
                try:
                    known = dict(zip(map(id, offers), answer.find_edits(offers), strict=True))
                    suggestions = [known.get(id(suggestion), suggestion) for suggestion in suggestions]
                    shown = self._show(suggestions, question.prefix, answer.typed, session)
                except errors.EngineTimeout as error:
                    # The list came in time, so it counts without the edits.
                    self._engine.unresolved += 1
                    self._is_stuck = error.restart
        rank = task.rank(question.expected, question.prefix, shown.suggestions)
        saved = len(shown.suggestions[rank - 1].text) - len(question.prefix) if rank else 0
        # Without a user model, a suggestion is selected if that needs fewer keys (steps, Enter) than typing the rest.
        selected = rank is not None and count_keys(rank, shown.highlighted) < saved
        logged, drawn = shown.features is not None, session.drawn
        if session.possible:
            session.possible.sees(rank, question.prefix)
            logged = drawn is not None and drawn.asks(question.prefix)
            selected = drawn is not None and logged and drawn.takes(rank, question.prefix)
        # Digits beyond a microsecond are noise.
        latency = round(answer.latency + shown.ranking, 3)
        if logged and shown.features is not None:
            if drawn:
                # The column counts the lookups of the drawn user. Other possible users may have asked more often.
                shown.features[:, COLUMN["query"]] = len(session.logged)
            session.logged.append(
                Logged(
                    prefix=question.prefix,
                    suggestions=shown.suggestions,
                    features=shown.features,
                    rank=rank,
                    selected=selected,
                    latency=latency,
                )
            )
        return Lookup(
            prefix=question.prefix,
            # Edits are dropped, since the tails describe them.
            suggestions=shown.stored
            if isinstance(session.call, UseImport)
            else tuple(replace(item, edits=None) if item.edits else item for item in shown.stored),
            total=len(shown.suggestions),
            duplicates=shown.duplicates,
            dropped=answer.dropped,
            highlighted=shown.highlighted,
            rank=rank,
            # A rank implies that the name was offered, so this is stored only without a rank, or inside a token.
            offered=(self._is_inside or rank is None)
            and any(question.expected in (item.text, item.label) for item in shown.suggestions),
            adds_import=self._acceptances is None
            and not caret
            and self._changes.adds_import(
                shown.suggestions[:1], self._token(question.prefix, session.call), self.document.text
            ),
            latency=latency,
            cpu=None if answer.cpu is None else round(answer.cpu, 3),
            cold=self._cold,
            # What a modelled user selects is known only at the end of the session.
            selected=selected and not session.possible,
            accepted=saved if selected and task.play else 0,
            # Suggestions have grades already only in the task `imports`.
            grades=next((suggestion.grades for suggestion in shown.suggestions if suggestion.grades), None),
            answer=raw,
            usage=usage,
        )

    def _show(
        self, suggestions: Sequence[Suggestion], prefix: str, asked: int | None, session: OpenSession
    ) -> DisplayedList:
        text, caret, call = self.document.text, self.document.caret, session.call
        # The text of the file on disk is used, since the document may hide the code after the caret.
        end = call.offset + len(call.expected_text)
        follows = self._text[end : end + LONGEST] if isinstance(call, CallCompletion) else None
        if self._is_inside:
            # The code after the token is already there, so a tail that repeats the code doubles it.
            suggestions = [settle_tail(item, call.expected_text[len(prefix) :]) for item in suggestions]
            follows = ""
        token = self._token(prefix, call)
        return self._view.show(
            suggestions,
            text[: caret - len(prefix)],
            prefix,
            len(session.lookups),
            after=text[caret:],
            asked=asked,
            follows=follows,
            mark=list if self._acceptances is not None else lambda shown: self._changes.mark(shown, token, text),
        )

    def _token(self, prefix: str, call: CallCompletion | PlayItem) -> Edit:
        typed = call.expected_text if self._is_inside else prefix
        return self.document.caret - len(prefix), len(typed), call.expected_text

    def _finish(self, ended: OpenSession) -> Session:
        courses = ended.possible.courses() if ended.possible and ended.lookups and not ended.failure else ()
        if ended.failure:
            status, message = ended.failure
        elif not ended.lookups and not self._setup.task.play:
            status, message = (
                Status.SKIPPED,
                "the modelled user typed past every prefix at which completion could be requested",
            )
        else:
            lookups, message = ended.lookups[: courses[0].end] if courses else ended.lookups, ""
            status, usage = self._setup.task.status(lookups), lookups[-1].usage if lookups else None
            # A truncated answer is reported as cut off, unless it contains the whole expected text.
            whole = status == Status.OK and find_record(ended.call) is None
            if usage and usage.cut_off and not whole:
                status = Status.CUT_OFF
            elif usage and usage.unreadable:
                status = Status.UNREADABLE
        self._count(status, message)
        session = make_session(self._assignment, ended.call, status, message)
        if courses:
            shown = courses[0]
            session = replace(
                session,
                typed=len(ended.lookups[shown.first].prefix),
                # A single course is certain, so it is not stored.
                courses=courses if len(courses) > 1 else (),
            )
            ended.lookups[shown.end - 1] = replace(ended.lookups[shown.end - 1], selected=shown.taken)
        elif ended.possible and ended.lookups:
            session = replace(session, typed=len(ended.lookups[0].prefix))
        session = replace(session, lookups=tuple(ended.lookups), trace=tuple(ended.messages))
        if self._log and ended.logged and not ended.failure:
            cancelled = bool(ended.drawn and ended.drawn.over and not ended.logged[-1].selected)
            self._log.add(LoggedSession(session=session, queries=ended.logged, cancelled=cancelled))
        return session


def _choose_unknown(answered: Sequence[Suggestion], first: Sequence[Suggestion], expected: str) -> list[Suggestion]:
    """Return the suggestions whose edits are not known but needed for metrics: the first of the list, and those with
    the expected text."""
    shown = [(suggestion.text, suggestion.label, suggestion.sort_text) for suggestion in first]
    unknown = [
        suggestion
        for suggestion in answered
        if suggestion.edits is None
        and (suggestion.text == expected or (suggestion.text, suggestion.label, suggestion.sort_text) in shown)
    ]
    return unknown[:MOST_RESOLVED]


def _last_line(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    what = quote("".join(traceback.format_exception_only(error)).strip(), -500)
    return f"{what} ({Path(where.filename).name}, line {where.lineno}): this is a bug, please report it"
