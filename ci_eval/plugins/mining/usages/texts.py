"""The mining of object usages: from a text, from a project's files, and for a call that is being typed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.files import below
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.grammar.syntax import choose_grammar, parse_tree
from ci_eval.core.model import ObjectUsage
from ci_eval.plugins.languages.python.origins import prepare_jedi
from ci_eval.plugins.mining.sources import LARGEST, TIMEOUT, read_all
from ci_eval.plugins.mining.usages.dialect import Dialect, MinedText, MinedUsage, ProjectContext, Receiver
from ci_eval.plugins.mining.usages.languages import CATALOG

if TYPE_CHECKING:
    import jedi


def mine(text: str, path: str, dialect: Dialect, around: ProjectContext) -> MinedText:
    """Return the usages of a text, which may have syntax errors. Raises NotText if it is too large."""
    source = text.encode(errors="replace")
    if len(source) > LARGEST:
        raise NotText(f"the text has {len(source):,} bytes; the limit is {LARGEST:,}")
    source = dialect.dangling.sub(b" ", source)
    tree = parse_tree(source, choose_grammar(dialect.grammars, path))
    return dialect.mine(source, path, tree.root_node, around)


class ProjectUsages(msgspec.Struct, frozen=True, kw_only=True):
    paths: Sequence[str]
    usages: Sequence[MinedUsage]
    receivers: Counter[Receiver]
    broken: int
    troubles: Sequence[tuple[str, str]]


def read_project(
    root: Path, dialect: Dialect, *, jobs: int, advance: Callable[[int, int], None], infer: bool = False
) -> ProjectUsages:
    """Mine a project's usages. `advance(done, of)` is called after each file. `infer`: ask jedi for unknown types."""
    paths = sorted(below(root, root, tuple(dialect.grammars)))
    shared = (root, dialect.name, ProjectContext(own=dialect.own(paths)), infer)
    # jedi is much slower than the local rules.
    timeout = TIMEOUT * (10 if infer else 1)
    mined, troubles = read_all(paths, read_file, shared, jobs=jobs, advance=advance, timeout=timeout)
    return ProjectUsages(
        paths=paths,
        usages=[usage for file in mined.values() for usage in file.usages],
        receivers=sum((file.receivers for file in mined.values()), Counter()),
        broken=sum(file.broken for file in mined.values()),
        troubles=list(troubles.items()),
    )


def read_file(root: Path, language: str, around: ProjectContext, infer: bool, path: str) -> MinedText | str:
    """Mine a file, or return an error message if it cannot be read. Runs in a worker process."""
    try:
        # Raise UnicodeEncodeError if the path is not UTF-8: no sample could hold it.
        path.encode()
        text = read_text(root, path)
        around = replace(around, infer=_inference(root) if infer else None)
        return mine(text, path, CATALOG.load(language), around)
    except (NotText, OSError, UnicodeEncodeError) as error:
        return str(error)


MARK = "ciEvalWritesHere"
MEMBER = re.compile(r"\.\s*\Z")
ARGUMENTS = re.compile(r"\s*\(")
DEEPEST = 10
"""The limit of levels of inheritance that are followed."""


def find_dialect(path: str) -> Dialect | None:
    """Return the language of the file at `path`, or None if usages of its language cannot be mined."""
    return next((dialect for dialect in CATALOG.all() if path.endswith(tuple(dialect.grammars))), None)


def infer_usages(before: str, after: str, path: str, dialect: Dialect) -> list[ObjectUsage]:
    """Return the usage of the object whose member is being typed between the texts `before` and `after`, then a copy
    of it for each known base type, nearest first. Empty if no member is being typed or the object's type is unknown."""
    if not MEMBER.search(before):
        return []
    # Only calls count as usages, so a call of MARK is inserted at the caret.
    call = MARK if ARGUMENTS.match(after) else f"{MARK}() "
    try:
        mined_text = mine(f"{before}{call}{after}", path, dialect, ProjectContext())
    except NotText:
        return []
    usage = next((mined_usage.usage for mined_usage in mined_text.usages if MARK in mined_usage.usage.calls), None)
    if usage is None:
        return []
    usage = replace(usage, calls=tuple(name for name in usage.calls if name != MARK))
    types, level = {usage.type: None}, [usage.type]
    for _ in range(DEEPEST):
        level = [base for subtype in level for base in mined_text.bases.get(subtype, ()) if base not in types]
        types.update(dict.fromkeys(level))
    return [replace(usage, type=type_) for type_ in types]


NONE = "builtins.NoneType"
"""This type is ignored, since a variable whose first value is None mostly gets another type later."""
MAX_ANSWERS = 200_000
IMPORT = re.compile(rb"^[ \t]*(?:from|import)\b.*$", re.MULTILINE)
BLOCK = re.compile(rb"^(?:[ \t]+)?(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
SORTS: dict[str, Receiver] = {"module": "module", "namespace": "module", "class": "class"}
Answer = tuple[Receiver, str]


# An answer of jedi takes about 26 ms, and most of a file does not change between snapshots, so answers are cached.
class JediInference:
    """The inference of types before dots by jedi, for one project."""

    def __init__(self, root: Path | None = None) -> None:
        """`root`: the project's folder. jedi may read its modules, but never runs them."""
        self._project, self._environment = prepare_jedi(root)
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        self._script: tuple[bytes, jedi.Script] | None = None
        self.asked = 0

    def __call__(self, source: bytes, at: int) -> Answer:
        # The key of an answer: the enclosing function or class, the position in it, and the imports.
        begins = [0, *(match.start() for match in BLOCK.finditer(source))]
        number = bisect_right(begins, at) - 1
        block = source[begins[number] : (*begins, len(source))[number + 1]].rstrip()
        digest = blake2b(digest_size=16)
        for part in (block, str(at - begins[number]).encode(), *IMPORT.findall(source)):
            digest.update(len(part).to_bytes(8, "big") + part)
        key = digest.digest()
        if key not in self._answers:
            self.asked += 1
            self._answers[key] = self._ask(source, at)
            while len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)
        return self._answers[key]

    def _ask(self, source: bytes, at: int) -> Answer:
        import jedi

        begin = source.rfind(b"\n", 0, at) + 1
        column = len(source[begin:at].decode(errors="replace"))
        try:
            if self._script is None or self._script[0] is not source:
                text = source.decode(errors="replace")
                self._script = source, jedi.Script(text, project=self._project, environment=self._environment)
            names = self._script[1].infer(source.count(b"\n", 0, at) + 1, column)
        except Exception:  # noqa: BLE001 - jedi fails in many ways on broken code: the type is unknown, too
            return "unknown", ""
        for name in names:
            if name.type == "instance" and name.full_name and name.full_name != NONE:
                return "object", str(name.full_name)
            if name.type in SORTS:
                return SORTS[name.type], str(name.full_name or "")
        return "unknown", ""


# Each worker process has one instance for each project, and so one cache.
_inference = cache(JediInference)
