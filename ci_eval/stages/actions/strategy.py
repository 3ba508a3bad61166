"""Tokens → actions: what the file looks like when completion is asked for, and how it comes to look so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from ci_eval.contracts import Item, Task
from ci_eval.grammar.document import checksum
from ci_eval.grammar.remainder import Remainder, remainders
from ci_eval.model import (
    Action,
    CallCompletion,
    DeleteRange,
    FileActions,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrintText,
    StrategyConfig,
    Token,
)
from ci_eval.stages.actions import prefixes
from ci_eval.stages.actions.evolution import Evolution
from ci_eval.stages.actions.files import Source
from ci_eval.tasks.completion import TASK as COMPLETION

FINISH = FinishSession()


def actions_of_file(
    source: Source, tokens: Sequence[Token], strategy: StrategyConfig, unparsable: float, task: Task = COMPLETION
) -> FileActions:
    """The sessions of the task's items in their order; the text is as it was when all are done."""
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, tokens))
    if typist.plain:
        typist.type_plainly(tokens)
    elif task.items:
        typist.type_items(list(task.items(source.text, tokens)))
    return typist.written(unparsable)


def actions_of_items(source: Source, items: Sequence[Item], strategy: StrategyConfig, task: Task) -> FileActions:
    """The same of items that are known."""
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, ()))
    typist.type_items(items)
    return typist.written(0.0)


def spelled(strategy: StrategyConfig, seed: int, task: Task = COMPLETION) -> str:
    """Task and strategy in one word, as far as they decide what one lookup is like; part of the session's id."""
    return _spelled(strategy, _typed(task, prefixes.spelled(strategy.prefix)), seed)


def _typed(task: Task, prefix: str) -> str:
    """How an item is typed; completion, which was there first, goes without saying."""
    if task.play:
        return task.name
    name = task.name if task.span in {"word", "line"} else f"{task.name}({task.span})"
    return prefix if task.name == COMPLETION.name else f"{name}/{prefix}"


def _spelled(strategy: StrategyConfig, how: str, seed: int) -> str:
    changes = strategy.evolution
    if not changes.share:
        return f"{strategy.context}/{how}"
    return f"{strategy.context}/{how}/{changes.what}({changes.share:g},{changes.how},{seed})"


def _remainders(source: Source, items: Sequence[Item], strategy: StrategyConfig, task: Task) -> Iterator[Remainder]:
    """For each item, what behind it is not there yet."""
    language = source.language
    if strategy.context == "ALL":
        for item in items:
            yield Remainder(item.end, "")
    elif strategy.context == "LEFT" or language.shape is None:
        # Of a text about which nothing is known nothing is there, either: it is typed from top to bottom.
        yield from [Remainder(len(source.text), "")] * len(items)
    else:
        # Of what the task plays nothing is there in the beginning; of a token the tree knows its end.
        places = [item.begin if task.play else item.end for item in items]
        for item, rest in zip(items, remainders(source.text, source.grammar, language.shape, places), strict=True):
            yield rest if rest.end > item.end else Remainder(item.end, rest.tail)


@dataclass
class _Typist:
    """Writes the actions down, and keeps track of what is missing from the text.

    Behind the last item a gap may be open: the text from `_caret` to `_gap` is not there yet, the text before it is.
    """

    source: Source
    strategy: StrategyConfig
    task: Task
    evolution: Evolution
    checksum: str = ""
    sessions: int = 0
    actions: list[Action] = field(default_factory=list)
    _caret: int = 0
    _gap: int | None = None

    def __post_init__(self) -> None:
        self.checksum = checksum(self.source.text)
        self.actions.append(OpenFile(path=self.source.path, checksum=self.checksum))
        self._bases: dict[str, blake2b] = {}
        self.plain = self.task.name == COMPLETION.name and self.strategy == StrategyConfig(
            filters=self.strategy.filters
        )
        """Whether nothing but the token is missing, and nothing is typed."""

    def type_items(self, items: Sequence[Item]) -> None:
        """The sessions of all items, in order of offset."""
        for item, rest in zip(items, _remainders(self.source, items, self.strategy, self.task), strict=True):
            self.type(item, rest)
        self._close()
        self.actions += self.evolution.finish()

    def written(self, unparsable: float) -> FileActions:
        """All actions so far. `unparsable`: share of the text (0..1) the grammar could not read."""
        return FileActions(
            path=self.source.path,
            checksum=self.checksum,
            sessions=self.sessions,
            unparsable=unparsable,
            actions=tuple(self.actions),
        )

    def type(self, item: Item, rest: Remainder) -> None:
        """The sessions of an item."""
        wanted = [] if self.task.play else prefixes.queries(item.text, self.strategy.prefix)
        if not (wanted or self.task.play):
            return
        self._open(item, rest)
        begin = self.evolution.at(item.begin)
        if rest.tail:
            self.actions += [MoveCaret(offset=begin), PrintText(text=rest.tail)]
        self.actions.append(MoveCaret(offset=begin))
        if self.task.play:
            self._play(item, begin, rest.tail)
        else:
            self._ask(item, wanted, begin, rest.tail)
        self._caret = item.end

    def type_plainly(self, tokens: Sequence[Token]) -> None:
        """The same, shorter, for what is asked most often (speed)."""
        base = self._base("NoPrefix")
        actions = self.actions
        for token in tokens:
            begin, text = token.offset, token.text
            actions += (
                DeleteRange(begin=begin, end=begin + len(text)),
                MoveCaret(offset=begin),
                CallCompletion(
                    session=_id(base, begin, text),
                    offset=begin,
                    prefix="",
                    expected_text=text,
                    properties=token.properties,
                ),
                FINISH,
                PrintText(text=text),
            )
        self.sessions = len(tokens)

    def _open(self, item: Item, rest: Remainder) -> None:
        """Have everything before the item there, and nothing from there to the end of what is missing."""
        text = self.source.text
        if self._gap == rest.end > item.end:
            if self._caret < item.begin:
                self.actions.append(PrintText(text=text[self._caret : item.begin]))
            return
        self._close()
        begin = item.begin
        if self.evolution.happens:
            self.actions += self.evolution.before(begin, max(rest.end, _end_of_line(text, item.end)))
            begin = self.evolution.at(begin)
        self.actions.append(DeleteRange(begin=begin, end=begin + rest.end - item.begin))
        self._gap = rest.end

    def _close(self) -> None:
        if self._gap is not None and self._caret < self._gap:
            self.actions.append(PrintText(text=self.source.text[self._caret : self._gap]))
        self._gap = None

    def _ask(self, item: Item, wanted: list[tuple[str, list[str]]], begin: int, tail: str) -> None:
        typed = ""
        for how, steps in wanted:
            session = _id(self._base(_typed(self.task, how)), item.begin, item.text)
            for step in steps:
                if step != typed:
                    self.actions.append(PrintText(text=step[len(typed) :]))
                    typed = step
                self.actions.append(
                    CallCompletion(
                        session=session,
                        offset=item.begin,
                        prefix=step,
                        expected_text=item.text,
                        properties=item.properties,
                    )
                )
            self.actions.append(FINISH)
            self.sessions += 1
        if typed or tail:
            self.actions.append(DeleteRange(begin=begin, end=begin + len(typed) + len(tail)))
        self.actions.append(PrintText(text=item.text))

    def _play(self, item: Item, begin: int, tail: str) -> None:
        self.actions.append(
            self.task.action(
                session=_id(self._base(self.task.name), item.begin, item.text),
                offset=item.begin,
                expected_text=item.text,
                ranges=item.ranges,
                properties=item.properties,
                record=item.record,
            )
        )
        self.actions.append(FINISH)
        self.sessions += 1
        if tail:
            end = begin + len(item.text)
            self.actions.append(DeleteRange(begin=end, end=end + len(tail)))

    def _base(self, how: str) -> blake2b:
        base = self._bases.get(how)
        if base is None:
            strategy = _spelled(self.strategy, how, self.source.seed)
            parts = [self.source.project, self.source.path, self.checksum, strategy, ""]
            base = self._bases[how] = blake2b("\0".join(parts).encode(), digest_size=8)
        return base


def _id(base: blake2b, begin: int, text: str) -> str:
    identity = base.copy()
    identity.update(f"{begin}\0{text}".encode())
    return identity.hexdigest()


def _end_of_line(text: str, offset: int) -> int:
    found = text.find("\n", offset)
    return found if found >= 0 else len(text)
