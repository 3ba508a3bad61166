"""The reader of texts, and of the files of a project, each into its object usages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ci_eval.core.base.files import below
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.grammar.syntax import parser
from ci_eval.plugins.mining.reading import LARGEST, TIMEOUT, read_all
from ci_eval.plugins.mining.usages.contract import Dialect, MinedText, MinedUsage, Receiver, Surroundings
from ci_eval.plugins.mining.usages.inference import JediInference
from ci_eval.plugins.mining.usages.languages import CATALOG


@dataclass(frozen=True, kw_only=True)
class ProjectUsages:
    paths: Sequence[str]
    usages: Sequence[MinedUsage]
    """Usages, in order of the paths."""
    receivers: Counter[Receiver]
    broken: int
    """Files of which the grammar could not read some part."""
    troubles: Sequence[tuple[str, str]]
    """Path and reason of files that could not be read at all."""


def mine(text: str, path: str, dialect: Dialect, around: Surroundings) -> MinedText:
    """Return the usages of a text, which may be broken. Raises NotText if it is too large."""
    source = text.encode(errors="replace")
    if len(source) > LARGEST:
        raise NotText(f"{len(source):,} bytes are more than {LARGEST:,}")
    source = dialect.dangling.sub(b" ", source)
    grammar = next((name for end, name in dialect.grammars.items() if path.endswith(end)), None)
    grammar = grammar or next(iter(dialect.grammars.values()))
    return dialect.mine(source, path, parser(grammar).parse(source).root_node, around)


def read_project(
    root: Path, dialect: Dialect, *, jobs: int, advance: Callable[[int, int], None], infer: bool = False
) -> ProjectUsages:
    """Return the usages in all files of the language below `root`. `infer` asks jedi if local rules do not determine a
    type.

    Calls `advance(done, of)` after each file.
    """
    paths = sorted(below(root, root, tuple(dialect.grammars)))
    around = Surroundings(own=dialect.own(paths))
    mined, troubles = read_all(
        paths,
        read_file,
        (root, dialect.name, around, infer),
        jobs=jobs,
        advance=advance,
        # jedi takes far longer than the grammar.
        timeout=TIMEOUT * (10 if infer else 1),
    )
    ordered = [mined[path] for path in paths if path in mined]
    return ProjectUsages(
        paths=paths,
        usages=[usage for file in ordered for usage in file.usages],
        receivers=sum((file.receivers for file in ordered), Counter()),
        broken=sum(file.broken for file in ordered),
        troubles=sorted(troubles.items()),
    )


def read_file(root: Path, language: str, around: Surroundings, infer: bool, path: str) -> MinedText | str:
    """Return the usages in a file, or why it cannot be read. Runs in a worker process."""
    try:
        # A path that is not UTF-8 fails here, since no sample could hold it.
        path.encode()
        text = read_text(root, path)
        return mine(text, path, _dialect(language), replace(around, infer=_inference(root) if infer else None))
    except (NotText, OSError, UnicodeEncodeError) as error:
        return str(error)


@cache
def _inference(root: Path) -> JediInference:
    return JediInference(root)


@cache
def _dialect(language: str) -> Dialect:
    return CATALOG.load(language)
