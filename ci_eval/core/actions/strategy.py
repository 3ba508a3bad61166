"""The actions that type the tokens of a file: edits and completion calls."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import msgspec

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
from ci_eval.core.model.tokens import Kind, Token

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
        steps = [n for n in sorted(set(prefix.lengths or ())) if n < len(text)]
        return [(f"SimplePrefix({n})" if n else "NoPrefix", [text[:n]]) for n in steps]
    if prefix.name == "EveryPrefix":
        return [(spell_prefix(prefix), [text[:n] for n in range(min(len(text), (prefix.n or len(text)) + 1))])]
    typed = longest_prefix(text, prefix)
    if prefix.name == "Inside" and typed == text:
        return []
    return [(spell_prefix(prefix), [typed[:n] for n in range(len(typed) + 1)] if prefix.emulate_typing else [typed])]


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
FIRST_TASK = "completion"
"""The task whose name is not in session ids, since it was the only task when ids were introduced."""


def actions_of_file(
    source: Source,
    tokens: Sequence[Token],
    strategy: StrategyConfig,
    unparsable: float,
    task: Task,
    ranks: Mapping[int, Collection[int]] | None = None,
) -> FileActions:
    """Return the sessions of the task's items in order. After the last action, the text is as it was. `ranks`: offset
    of each item → the indices (from 0) of the item's sessions to make; None = all."""
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, tokens), ranks=ranks)
    if task.of_imports:
        typist.use_imports(uses(source, tokens))
    elif typist.plain:
        typist.type_plainly(tokens)
    elif task.items:
        typist.type_items(list(task.items(source.text, tokens)))
    return typist.written(unparsable)


def actions_of_items(source: Source, items: Sequence[Item], strategy: StrategyConfig, task: Task) -> FileActions:
    typist = _Typist(source, strategy, task, Evolution(source, strategy.evolution, ()))
    typist.type_items(items)
    return typist.written(0.0)


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
    sessions: int = 0
    actions: list[Action] = field(default_factory=list)
    _caret: int = 0
    _gap: int | None = None

    def __post_init__(self) -> None:
        self.checksum = checksum(self.source.text)
        self.actions.append(OpenFile(path=self.source.path, checksum=self.checksum))
        self._bases: dict[str, blake2b] = {}
        self.plain = self.task.name == FIRST_TASK and self.strategy == StrategyConfig(filters=self.strategy.filters)
        """True under the default strategy: only the token is missing, and no prefix is typed."""

    def type_items(self, items: Sequence[Item]) -> None:
        """Type items, which must be sorted by offset."""
        for item, remainder in zip(items, _remainders(self.source, items, self.strategy, self.task), strict=True):
            self.type(item, remainder)
        self._close()
        self.actions += self.evolution.finish()

    def written(self, unparsable: float) -> FileActions:
        """Return the recorded actions. `unparsable`: the share of the text that the grammar could not read."""
        return FileActions(
            path=self.source.path,
            checksum=self.checksum,
            sessions=self.sessions,
            unparsable=unparsable,
            actions=tuple(self.actions),
        )

    def type(self, item: Item, rest: Remainder) -> None:
        queries = [] if self.task.play else plan_sessions(item.text, self.strategy.prefix)
        if self.ranks is not None:
            queries = [query for rank, query in enumerate(queries) if rank in self.ranks[item.begin]]
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
            if rest.tail:
                end = begin + len(item.text)
                self.actions.append(DeleteRange(begin=end, end=end + len(rest.tail)))
        elif self.strategy.prefix.name == "Inside":
            self._ask_inside(item, queries, begin, rest.tail)
        else:
            typed = ""
            for how, steps in queries:
                session = _id(self._base(_spell_typing(self.task, how)), item.begin, item.text)
                for step in steps:
                    if step != typed:
                        # Each prefix of an item extends the one before, so only its new letters are typed.
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
            if typed or rest.tail:
                self.actions.append(DeleteRange(begin=begin, end=begin + len(typed) + len(rest.tail)))
            self.actions.append(PrintText(text=item.text))
        self._caret = item.end

    def type_plainly(self, tokens: Sequence[Token]) -> None:
        """Type tokens with the same result as `type_items` under the plain strategy."""
        # Most runs use this method, so it must be fast. It needs neither evolution nor gaps.
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

    def use_imports(self, uses_of_names: Sequence[Use]) -> None:
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
            for length in sorted({min(length, len(token.text)) for length in LENGTHS}):
                self.actions.append(PrintText(text=token.text[len(typed) : length]))
                typed = token.text[:length]
                how = f"{self.task.name}/SimplePrefix({length})"
                self.actions += [
                    UseImport(
                        session=_id(self._base(how), token.offset, token.text),
                        offset=token.offset,
                        prefix=typed,
                        expected_text=token.text,
                        properties=token.properties,
                        removed=removed,
                    ),
                    FINISH,
                ]
                self.sessions += 1
            # The last length is that of the token, so the whole token is typed now.
            self.actions += [MoveCaret(offset=missing.begin), PrintText(text=removed.text)]

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
                    session=_id(self._base(_spell_typing(self.task, how)), item.begin, item.text),
                    offset=item.begin,
                    prefix=prefix,
                    expected_text=item.text,
                    properties=item.properties,
                ),
                FINISH,
            )
            self.sessions += 1
        self.actions.append(DeleteRange(begin=end, end=end + len(tail)) if tail else MoveCaret(offset=end))

    def _base(self, how: str) -> blake2b:
        base = self._bases.get(how)
        if base is None:
            strategy = _spell_strategy(self.strategy, how, self.source.seed)
            # With the checksum, the ids of sessions change if the text of the file changes.
            parts = [self.source.project, self.source.path, self.checksum, strategy, ""]
            base = self._bases[how] = blake2b("\0".join(parts).encode(), digest_size=8)
        return base


def _id(base: blake2b, begin: int, text: str) -> str:
    # Copying a hash is faster than hashing the base again.
    identity = base.copy()
    identity.update(f"{begin}\0{text}".encode())
    return identity.hexdigest()
