"""Find the files of a project to evaluate, its generated and vendored files, and the names that it declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import msgspec

from ci_eval import __version__
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.base.files import NOT_SOURCE, below, is_own, read_own
from ci_eval.core.contracts import Declarations, Language
from ci_eval.core.grammar.document import NotText, check_lines, decode_file
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import ActionsConfig

BINARY_PREFIX = 8192
"""The number of bytes at the beginning of a file that are searched for a NUL byte."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    path: str
    text: str
    language: Language
    seed: int = 0

    @property
    def grammar(self) -> str:
        return choose_grammar(self.language.grammars, self.path)


def source_files(root: Path, language: Language, config: ActionsConfig) -> Iterator[str]:
    """Return the sorted paths of source files. Raises ConfigError if an evaluation root is missing or not in `root`."""
    ignored = NOT_SOURCE | set(config.ignore_file_names)
    # A file in two evaluation roots counts once.
    paths: set[str] = set()
    for evaluation_root in config.evaluation_roots or (".",):
        start = root / evaluation_root
        if not start.resolve().is_relative_to(root.resolve()) or not start.exists():
            raise ConfigError(
                f"`actions.evaluationRoots`: {evaluation_root!r} is not in the project; give paths relative to its root"
            )
        # A file that is itself an evaluation root is evaluated, whatever its suffix.
        if start.is_file():
            paths.add(start.relative_to(root).as_posix())
            continue
        for path in below(start, root, language.suffixes, ignored):
            if "" in language.suffixes:
                with (root / path).open("rb") as file:
                    # As in git, a file with a NUL byte is a binary file.
                    if b"\0" in file.read(BINARY_PREFIX):
                        continue
            paths.add(path)
    return iter(sorted(paths))


def declarations(root: Path, language: Language, config: ActionsConfig, cache: Path | None = None) -> Declarations:
    """Return the names that all files of the project declare. `cache`: the folder in which the result is stored."""
    if language.declare is None:
        return {}
    ignored = "\0".join(sorted(config.ignore_file_names))
    key = f"{__version__}\0{language.name}\0{config.max_file_size}\0{ignored}"
    stored = cache / f"declared-{blake2b(key.encode(), digest_size=16).hexdigest()}.json" if cache else None
    if stored:
        # If the file is missing or damaged, the project is read again.
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(stored.read_bytes(), type=dict[str, frozenset[str]])
    by_package: dict[str, frozenset[str]] = {}
    # Evaluated files may use names of files outside the evaluation roots.
    everything = ActionsConfig(ignore_file_names=config.ignore_file_names)
    for path in source_files(root, language, everything):
        try:
            # Encoding fails for a name that is not UTF-8.
            path.encode()
            data = read_own(root, path)
            text = "" if len(data) > config.max_file_size else decode_file(root, path, data)
            check_lines(text)
        except (NotText, OSError, UnicodeEncodeError):
            # The error is reported where the file itself is evaluated.
            continue
        package, names = language.declare(text, path)
        by_package[package] = by_package.get(package, frozenset()) | names
    if stored:
        # If the cache cannot be written, the next run only takes longer.
        with suppress(WorkspaceError, UnicodeEncodeError):
            atomic.write(stored, msgspec.json.encode(by_package))
    return by_package


VENDORED = re.compile(r"_?vendor(?:s|ed)?|third[-_]?party|3rd[-_]?party|bower_components|Godeps", re.IGNORECASE)
"""The names of folders with copies of other projects' code, among those that GitHub's linguist knows (vendor.yml)."""
GENERATED = re.compile(r".*(?:_pb2(?:_grpc)?\.pyi?|[._](?:g|pb|min|gen|generated|designer)\.\w+|\.pb\.gw\.go)")
HEAD_LINES = 30
"""The number of lines at the beginning of a file that are searched for a generator's mark."""
MARK = re.compile(
    r"^\s*(?:#|//|/?\*|--|;|<!--|%|\"\"\"|''').*(?:DO NOT (?:EDIT|MODIFY)|@generated\b|<auto-?generated)", re.MULTILINE
)
"""A comment that marks a file as generated."""
ATTRIBUTE = re.compile(r"([-!]?)linguist-(generated|vendored)(?:=(\w+))?")
WILDCARDS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


Attribute = tuple[re.Pattern[str], str, bool]
"""A pattern of paths, the attribute ("generated" or "vendored"), and whether the attribute is set."""


def find_left_out(
    root: Path, paths: Iterable[str], evaluation_roots: Sequence[str], attributes: Sequence[Attribute] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield generated and vendored files, each with "generated" or "vendored".

    The attributes `linguist-generated` and `linguist-vendored` in `.gitattributes` decide. If they are not set, three
    things decide: the file's name, the names of its folders below the evaluation root, a comment in the first lines. A
    file that is itself an evaluation root is never yielded. `attributes`: the result of `read_attributes`, if known.
    """
    attributes = list(read_attributes(root)) if attributes is None else attributes
    starts = [PurePosixPath(start) for start in evaluation_roots]
    for path in map(PurePosixPath, paths):
        if path in starts:
            continue
        stated = {kind: holds for pattern, kind, holds in attributes if pattern.fullmatch(str(path))}
        below = [path.relative_to(start).parent.parts for start in starts if path.is_relative_to(start)]
        folders = min(below, key=len, default=path.parent.parts)
        if stated.get("vendored", any(map(VENDORED.fullmatch, folders))):
            yield str(path), "vendored"
        elif stated.get("generated", GENERATED.fullmatch(path.name) or _is_marked(root, str(path))):
            yield str(path), "generated"


def _is_marked(root: Path, path: str) -> bool:
    try:
        lines = read_own(root, path).decode(errors="replace").splitlines()[:HEAD_LINES]
    except OSError:
        # The error is reported where the file itself is evaluated.
        return False
    return MARK.search("\n".join(lines)) is not None


def read_attributes(root: Path) -> Iterator[Attribute]:
    """Return the patterns of all `.gitattributes` files. Later lines and deeper files take precedence."""
    for file in sorted(root.rglob(".gitattributes"), key=lambda file: (len(file.parts), file)):
        lines = file.read_text("utf-8", "replace").splitlines() if is_own(file, root) else []
        for line in lines:
            pattern, *words = line.split() or [""]
            for match in filter(None, map(ATTRIBUTE.fullmatch, words)):
                folder = file.parent.relative_to(root).as_posix()
                # A pattern without a slash matches names in any folder below.
                inside = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
                parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", inside if folder == "." else f"{folder}/{inside}")
                expression = "".join(WILDCARDS.get(part) or re.escape(part) for part in parts)
                yield re.compile(expression), match[2], not match[1] and match[3] != "false"
