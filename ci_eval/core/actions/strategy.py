"""The actions that type the tokens of a file: edits and completion calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ci_eval.core.actions.evolution import Evolution
from ci_eval.core.actions.files import Source
from ci_eval.core.base.chance import draw
from ci_eval.core.contracts import Item, Task
from ci_eval.core.grammar.document import checksum
from ci_eval.core.grammar.unwritten import Remainder, remainders
from ci_eval.core.import_syntax import Import
from ci_eval.core.model.sessions import (
    Action,
    CallCompletion,
    DeleteRange,
    FileActions,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrintText,
    RemovedImport,
    UseImport,
)
from ci_eval.core.model.settings import ActionsConfig, FiltersConfig, PrefixConfig, QueriesConfig, StrategyConfig
from ci_eval.core.model.tokens import Kind, Properties, Token

OF_FILES = ("evaluationRoots", "ignoreFileNames", "maxFileSize")


def spelled_filters(filters: FiltersConfig) -> str:
    """Return the filters that differ from the defaults, as JSON; "" if none does."""
    return _spell_changes(msgspec.to_builtins(filters), msgspec.to_builtins(FiltersConfig()))


def spelled_files(config: ActionsConfig) -> str:
    """Return the settings that choose files and differ from the defaults, as JSON; "" if none does."""
    settings, defaults = msgspec.to_builtins(config), msgspec.to_builtins(ActionsConfig())
    return _spell_changes({key: settings[key] for key in OF_FILES}, defaults)


def spelled_queries(config: QueriesConfig) -> str:
    changes = _spell_changes(msgspec.to_builtins(config), msgspec.to_builtins(QueriesConfig()))
    return f"/{changes}" if changes else ""


def _spell_changes(settings: dict[str, object], defaults: dict[str, object]) -> str:
    # The order of a list does not change a filter.
    ordered, ordered_defaults = (
        {key: sorted(value) if isinstance(value, list) else value for key, value in values.items()}
        for values in (settings, defaults)
    )
    changes = {key: value for key, value in sorted(ordered.items()) if value != ordered_defaults[key]}
    return json.dumps(changes, ensure_ascii=False) if changes else ""


def plan_sessions(text: str, prefix: PrefixConfig) -> list[tuple[str, list[str]]]:
    """Return, for each session of a token, the spelled strategy and the prefix of each lookup, the shortest first."""
    if prefix.name == "Ladder":
        # A prefix as long as the token would leave nothing to complete.
        return [(how, [text[:n]]) for n, how in _spell_steps(prefix.lengths or ()) if n < len(text)]
    if prefix.name == "EveryPrefix":
        return [(spell_prefix(prefix), [text[:n] for n in range(min(len(text), (prefix.n or len(text)) + 1))])]
    typed = longest_prefix(text, prefix)
    if prefix.name == "Inside" and typed == text:
        return []
    return [(spell_prefix(prefix), [typed[:n] for n in range(len(typed) + 1)] if prefix.emulate_typing else [typed])]


@lru_cache
def _spell_steps(lengths: tuple[int, ...]) -> Sequence[tuple[int, str]]:
    return [(n, f"SimplePrefix({n})" if n else "NoPrefix") for n in sorted(set(lengths))]


def longest_prefix(text: str, prefix: PrefixConfig) -> str:
    if prefix.name in {"SimplePrefix", "Inside"}:
        return text[: prefix.n or 1]
    if prefix.name == "CapitalizePrefix":
        name = text.lstrip("_@$#")
        words = [word for word in name.split("_") if word] or [""]
        # In MAX_SIZE every letter is a capital, so only letters after `_` begin words.
        shouted = len(words) > 1 and name.isupper()
        typed = "".join(word[:1] + ("" if shouted else "".join(filter(str.isupper, word[1:]))) for word in words)
        return text[: len(text) - len(name)] + typed
    return ""


def spell_prefix(prefix: PrefixConfig) -> str:
    """Return the settings that decide which lookups exist, as one word for session ids."""
    if prefix.name == "Ladder":
        return f"Ladder({','.join(map(str, prefix.lengths or ()))})"
    return prefix.name + (f"({prefix.n})" if prefix.n else "") + "/typing" * prefix.emulate_typing


LONGEST = 1_000_000_000
LENGTHS = (3, LONGEST)
"""The numbers of letters typed in the task imports: 3, and all. With one letter, no engine ranks the name high."""


class Use(NamedTuple):
    token: Token
    imported: Import


def uses(source: Source, tokens: Sequence[Token]) -> list[Use]:
    """Return one use of each imported name, sorted by offset. If a name has several uses, the seed chooses one. Names
    whose import is not removable are excluded. So are uses above the import, uses after a dot, and uses that refer to
    something other than a static name of a package."""
    syntax = source.language.import_syntax
    candidates: list[Use] = []
    for imported in syntax.read(source.text) if syntax else ():
        fitting = [
            token
            for token in tokens
            if imported.removable
            and token.text == imported.name
            and token.properties.kind != Kind.IMPORT
            and token.offset >= imported.end
            and source.text[token.offset - 1 : token.offset] != "."
            and token.properties.is_static is True
            and token.properties.package is not None
        ]
        if fitting:
            chance = draw(source.seed, f"{source.project}\0{source.path}\0{imported.name}")
            candidates.append(Use(fitting[int(chance * len(fitting))], imported))
    return sorted(candidates, key=lambda use: use.token.offset)


FINISH = FinishSession()
AT_ONCE = 1_000
"""The number of recorded actions that are handed on at once."""
FIRST_TASK = "completion"
"""The task whose name is not in session ids, since it was the only task when ids were introduced."""


def stream_actions(
    source: Source,
    tokens: Sequence[Token],
    strategy: StrategyConfig,
    unparsable: float,
    task: Task,
    ranks: Mapping[int, Collection[int]] | None = None,
) -> tuple[FileActions, Iterator[Action]]:
    """Return the head of a file, and the sessions of the task's items as actions in order. The actions are made while
    they are read: all actions of a large file take more than 400 MB. After the last one, the text is as it was.

    `ranks`: offset of each item → the indices (from 0) of the item's sessions to make; None = all.
    """
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, tokens), ranks=ranks)
    if task.of_imports:
        of_names = uses(source, tokens)
        sessions, typed = sum(len(_count_letters(use.token)) for use in of_names), typist.use_imports(of_names)
    elif typist.plain:
        sessions = typist.count((token.offset, token.text) for token in tokens)
        typed = typist.type_plainly(tokens)
    else:
        items = list(task.items(source.text, tokens)) if task.items else []
        sessions, typed = typist.count((item.begin, item.text) for item in items), typist.type_items(items)
    return typist.head(sessions, unparsable), chain.from_iterable(typed)


def actions_of_items(source: Source, items: Sequence[Item], strategy: StrategyConfig, task: Task) -> FileActions:
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, ()))
    head = typist.head(typist.count((item.begin, item.text) for item in items), 0.0)
    return replace(head, actions=tuple(chain.from_iterable(typist.type_items(items))))


def spell_task(strategy: StrategyConfig, seed: int, task: Task) -> str:
    """Return the settings that decide a single lookup, as one word for session ids."""
    return _spell_strategy(strategy, _spell_typing(task, spell_prefix(strategy.prefix)), seed)


def _spell_typing(task: Task, prefix: str) -> str:
    if task.play:
        return task.name
    if task.name == FIRST_TASK:
        return prefix
    name = task.name if task.span in {"word", "line"} else f"{task.name}({task.span})"
    return f"{name}/{prefix}"


def _spell_strategy(strategy: StrategyConfig, how: str, seed: int) -> str:
    changes = strategy.evolution
    if not changes.share:
        return f"{strategy.context}/{how}"
    return f"{strategy.context}/{how}/{changes.what}({changes.share:g},{changes.how},{seed})"


def _remainders(source: Source, items: Sequence[Item], strategy: StrategyConfig, task: Task) -> Iterator[Remainder]:
    language = source.language
    if strategy.context == "ALL":
        for item in items:
            yield Remainder(item.end, "")
    elif strategy.context == "LEFT" or language.shape is None:
        # Without a shape, the parts of the text are not known, so the text is typed from top to bottom.
        yield from [Remainder(len(source.text), "")] * len(items)
    else:
        # If a task plays an item, nothing of the item exists at first, so the text after its beginning is missing.
        offsets = [item.begin if task.play else item.end for item in items]
        for item, remainder in zip(
            items, remainders(source.text, source.grammar, language.shape, offsets), strict=True
        ):
            yield remainder if remainder.end > item.end else Remainder(item.end, remainder.tail)


@dataclass
class _Typist:
    """A recorder of actions. If a gap is open, the text from `_caret` to `_gap` is not typed yet."""

    source: Source
    strategy: StrategyConfig
    task: Task
    evolution: Evolution
    ranks: Mapping[int, Collection[int]] | None = None
    checksum: str = ""
    actions: list[Action] = field(default_factory=list)
    _caret: int = 0
    _gap: int | None = None

    def __post_init__(self) -> None:
        self.checksum = checksum(self.source.text)
        self.actions.append(OpenFile(path=self.source.path, checksum=self.checksum))
        self._bases: dict[str, blake2b] = {}
        strategy = self.strategy
        self.plain = (
            self.task.name == FIRST_TASK
            and strategy.context == "ALL"
            and strategy.prefix.name != "Inside"
            and not strategy.evolution.share
        )
        """True if only the token is missing while it is typed."""

    def head(self, sessions: int, unparsable: float) -> FileActions:
        """Return the file without actions. `unparsable`: the share of the text that the grammar could not read."""
        return FileActions(
            path=self.source.path, checksum=self.checksum, sessions=sessions, unparsable=unparsable, actions=()
        )

    def count(self, places: Iterable[tuple[int, str]]) -> int:
        """Return the number of sessions of items or tokens, which are given as offset and text."""
        if self.ranks is not None:
            return sum(len(self._plan(begin, text)) for begin, text in places)
        texts = Counter(text for _, text in places)
        # A task that plays items is never sampled, so its items have no ranks.
        if self.task.play:
            return texts.total()
        return sum(times * len(plan_sessions(text, self.strategy.prefix)) for text, times in texts.items())

    def _plan(self, begin: int, text: str) -> list[tuple[str, list[str]]]:
        queries = plan_sessions(text, self.strategy.prefix)
        if self.ranks is None:
            return queries
        return [query for rank, query in enumerate(queries) if rank in self.ranks[begin]]

    def _take(self) -> list[Action]:
        taken, self.actions = self.actions, []
        return taken

    def type_items(self, items: Sequence[Item]) -> Iterator[list[Action]]:
        """Yield the actions that type items, which must be sorted by offset."""
        for item, remainder in zip(items, _remainders(self.source, items, self.strategy, self.task), strict=True):
            self.type(item, remainder)
            if len(self.actions) >= AT_ONCE:
                yield self._take()
        self._close()
        self.actions += self.evolution.finish()
        yield self._take()

    def type(self, item: Item, rest: Remainder) -> None:
        queries = [] if self.task.play else self._plan(item.begin, item.text)
        if not (queries or self.task.play):
            return
        self._open(item, rest)
        begin = self.evolution.at(item.begin)
        if rest.tail:
            self.actions += [MoveCaret(offset=begin), PrintText(text=rest.tail)]
        self.actions.append(MoveCaret(offset=begin))
        if self.task.play:
            self.actions.append(
                self.task.action(
                    session=self._identify("", item.begin, item.text),
                    offset=item.begin,
                    expected_text=item.text,
                    ranges=item.ranges,
                    properties=item.properties,
                    record=item.record,
                )
            )
            self.actions.append(FINISH)
            if rest.tail:
                end = begin + len(item.text)
                self.actions.append(DeleteRange(begin=end, end=end + len(rest.tail)))
        elif self.strategy.prefix.name == "Inside":
            self._ask_inside(item, queries, begin, rest.tail)
        else:
            typed = self._ask(item.begin, item.text, item.properties, queries)
            if typed or rest.tail:
                self.actions.append(DeleteRange(begin=begin, end=begin + len(typed) + len(rest.tail)))
            self.actions.append(PrintText(text=item.text))
        self._caret = item.end

    def _ask(self, offset: int, text: str, properties: Properties, queries: list[tuple[str, list[str]]]) -> str:
        """Type and ask the prefixes of each session, and return the last prefix."""
        actions, typed = self.actions, ""
        for how, steps in queries:
            session = self._identify(how, offset, text)
            for step in steps:
                if step != typed:
                    # Each prefix of an item extends the one before, so only its new letters are typed.
                    actions.append(PrintText(text=step[len(typed) :]))
                    typed = step
                actions.append(
                    CallCompletion(
                        session=session, offset=offset, prefix=step, expected_text=text, properties=properties
                    )
                )
            actions.append(FINISH)
        return typed

    def type_plainly(self, tokens: Sequence[Token]) -> Iterator[list[Action]]:
        """Yield the actions of tokens, with the same result as `type_items`."""
        # Most runs use this method, so it must be fast. It needs neither evolution nor gaps.
        for token in tokens:
            begin, text = token.offset, token.text
            if queries := self._plan(begin, text):
                self.actions += (DeleteRange(begin=begin, end=begin + len(text)), MoveCaret(offset=begin))
                if typed := self._ask(begin, text, token.properties, queries):
                    self.actions.append(DeleteRange(begin=begin, end=begin + len(typed)))
                self.actions.append(PrintText(text=text))
            if len(self.actions) >= AT_ONCE:
                yield self._take()
        yield self._take()

    def use_imports(self, uses_of_names: Sequence[Use]) -> Iterator[list[Action]]:
        """Remove each import from the file while the imported name is completed."""
        for use in uses_of_names:
            missing, token = use.imported, use.token
            begin = token.offset - (missing.end - missing.begin)
            removed = RemovedImport(
                module=missing.module, offset=missing.begin, text=self.source.text[missing.begin : missing.end]
            )
            # The import is above the token. Delete the token first, so that the import's offsets stay right.
            self.actions += [
                DeleteRange(begin=token.offset, end=token.offset + len(token.text)),
                DeleteRange(begin=missing.begin, end=missing.end),
                MoveCaret(offset=begin),
            ]
            typed = ""
            for length in _count_letters(token):
                self.actions.append(PrintText(text=token.text[len(typed) : length]))
                typed = token.text[:length]
                self.actions += [
                    UseImport(
                        session=self._identify(f"SimplePrefix({length})", token.offset, token.text),
                        offset=token.offset,
                        prefix=typed,
                        expected_text=token.text,
                        properties=token.properties,
                        removed=removed,
                    ),
                    FINISH,
                ]
            # The last length is that of the token, so the whole token is typed now.
            self.actions += [MoveCaret(offset=missing.begin), PrintText(text=removed.text)]
        yield self._take()

    def _open(self, item: Item, remainder: Remainder) -> None:
        """Restore everything before the item, and delete the text from the item to the end of the missing part."""
        text = self.source.text
        # If the item is in the same gap as the item before, only the text between them is typed.
        if self._gap == remainder.end > item.end:
            if self._caret < item.begin:
                self.actions.append(PrintText(text=text[self._caret : item.begin]))
            return
        self._close()
        begin = item.begin
        if self.evolution.happens:
            line_end = text.find("\n", item.end)
            self.actions += self.evolution.before(begin, max(remainder.end, line_end if line_end >= 0 else len(text)))
            begin = self.evolution.at(begin)
        self.actions.append(DeleteRange(begin=begin, end=begin + remainder.end - item.begin))
        self._gap = remainder.end

    def _close(self) -> None:
        if self._gap is not None and self._caret < self._gap:
            self.actions.append(PrintText(text=self.source.text[self._caret : self._gap]))
        self._gap = None

    def _ask_inside(self, item: Item, queries: list[tuple[str, list[str]]], begin: int, tail: str) -> None:
        end = begin + len(item.text)
        self.actions.append(PrintText(text=item.text))
        for how, (prefix,) in queries:
            self.actions += (
                MoveCaret(offset=begin + len(prefix)),
                CallCompletion(
                    session=self._identify(how, item.begin, item.text),
                    offset=item.begin,
                    prefix=prefix,
                    expected_text=item.text,
                    properties=item.properties,
                ),
                FINISH,
            )
        self.actions.append(DeleteRange(begin=end, end=end + len(tail)) if tail else MoveCaret(offset=end))

    def _identify(self, how: str, begin: int, text: str) -> str:
        """Return the id of a session. `how`: the spelled prefix, which does not matter if the task plays items."""
        base = self._bases.get(how)
        if base is None:
            strategy = _spell_strategy(self.strategy, _spell_typing(self.task, how), self.source.seed)
            # With the checksum, the ids of sessions change if the text of the file changes.
            parts = [self.source.project, self.source.path, self.checksum, strategy, ""]
            base = self._bases[how] = blake2b("\0".join(parts).encode(), digest_size=8)
        # Copying a hash is faster than hashing the base again.
        identity = base.copy()
        identity.update(f"{begin}\0{text}".encode())
        return identity.hexdigest()


def _count_letters(token: Token) -> list[int]:
    """Return how many letters of an imported name are typed at each lookup."""
    return sorted({min(length, len(token.text)) for length in LENGTHS})
