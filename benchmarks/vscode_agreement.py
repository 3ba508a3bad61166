"""A comparison of the client `vscode` with VS Code's own code, on the same lists of real servers.

    npm install monaco-editor@0.52.2 vscode-languageclient@9.0.1      (in an empty FOLDER)
    python benchmarks/vscode_agreement.py FOLDER ENGINE LANGUAGE PROJECT [--places N]

Each place is asked with 0, 1 and 3 letters typed. PROJECT is a folder. Prints the lists of which the labels, their
order and the highlighted suggestion are the same, and of these the ones of which what acceptance leaves is the same.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.grammar.document import difference
from ci_eval.core.model import Kind
from ci_eval.plugins.adapters.lsp import client
from ci_eval.plugins.adapters.lsp.engine import LspEngine, RunningLsp
from ci_eval.plugins.adapters.lsp.protocol import CompletionList, read_answer
from tests.interpret.clients import conformance

LETTERS = (0, 1, 3)
SCRIPT = Path(conformance.__file__).with_name("vscode.mjs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("folder", "engine", "language", "project"):
        parser.add_argument(name)
    parser.add_argument("--places", type=int, default=100)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/ci-eval")
    parser.add_argument("--lists", type=Path, help="file to which the lists are written")
    given = parser.parse_args()
    lists = list(asked(given.engine, given.language, Path(given.project).absolute(), given.places, given.cache))
    if given.lists:
        given.lists.write_text("".join(json.dumps(each) + "\n" for each in lists))
    node = ["node", str(SCRIPT), str(Path(given.folder).absolute())]
    lines = "\n".join(map(json.dumps, lists))
    expected = (
        subprocess.run(node, input=lines, capture_output=True, text=True, check=True).stdout.rstrip("\n").split("\n")
    )
    same: Counter[int] = Counter()
    alike: Counter[int] = Counter()
    for question, line in zip(lists, expected, strict=True):
        ours, theirs = conformance.shown(question), json.loads(line)
        typed = question["typed"]
        where = f"{question['line'].strip()[:80]!r}, {typed} typed"
        if order(ours) != order(theirs):
            print(f"list differs: {where}")
            continue
        same[typed] += 1
        alike[typed] += ours == theirs
        if ours != theirs:
            pair = next(pair for pair in zip(ours["shown"], theirs["shown"], strict=True) if pair[0] != pair[1])
            print(f"acceptance differs: {where}: {pair}")
    for letters in sorted({each["typed"] for each in lists}):
        total = sum(each["typed"] == letters for each in lists)
        print(f"{given.engine} {letters} letters: {same[letters]} of {total} lists, {alike[letters]} with acceptance")


def order(shown: Any) -> Any:
    """Return the labels as they stand in the list, and the index of the highlighted one."""
    return [label for label, _ in shown["shown"]], shown["highlighted"]


def asked(name: str, language: str, root: Path, places: int, cache: Path) -> Any:
    """Yield a list of the engine for each place and number of letters, as `vscode.mjs` reads them."""
    raw: list[bytes] = []

    def read_and_keep(answer: bytes) -> CompletionList:
        raw.append(answer)
        return read_answer(answer)

    vars(client)["read_answer"] = read_and_keep
    engine = engines.CATALOG.load(name)
    assert isinstance(engine, LspEngine)
    with TemporaryDirectory() as scratch:
        around = Surroundings(
            root=root,
            language=language,
            keywords=frozenset(),
            cache=Path(scratch),
            timeout=60,
            memory=0,
            word=languages.CATALOG.load(language).word,
        )
        running = engine.start(engine.install(None, cache), around)
        assert isinstance(running, RunningLsp)
        opened, told = "", ""
        for path, text, offset, token in _tokens(language, root, places):
            for letters in LETTERS:
                if letters >= len(token):
                    continue
                now = text[:offset] + token[:letters] + text[offset + len(token) :]
                try:
                    if opened == path:
                        running.edit([difference(told, now)])
                    else:
                        running.open(path, now)
                    opened, told = path, now
                    running.complete(Query(offset=offset + letters, prefix=token[:letters], expected=""))
                except EngineFailure as error:
                    print(f"{path} {offset}: {error}")
                    running.restart()
                    opened = ""
                    continue
                yield _question(now, offset + letters, letters, raw[-1], engine, path, language)
        running.close()


def _tokens(language: str, root: Path, places: int) -> list[tuple[str, str, int, str]]:
    found = []
    known = languages.CATALOG.load(language)
    for path in sorted(each for suffix in known.suffixes for each in root.rglob(f"*{suffix}")):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = str(path.relative_to(root))
        tokens = known.extract(text, name, {}).tokens
        found += [(name, text, each.offset, each.text) for each in tokens if each.properties.kind is not Kind.KEYWORD]
    return sorted(random.Random(0).sample(found, min(places, len(found))))


def _question(text: str, offset: int, typed: int, raw: bytes, engine: LspEngine, path: str, language: str) -> Any:
    begin = text.rfind("\n", 0, offset) + 1
    before = text[begin:offset]
    return {
        "language": engine.language_id(language, path),
        "line": text[begin:].partition("\n")[0],
        "caret": len(before.encode("utf-16-le")) // 2,
        "typed": typed,
        "asked": typed,
        "number": text.count("\n", 0, begin),
        "answer": json.loads(raw),
        "extension": engine.quirks.extension,
    }


if __name__ == "__main__":
    main()
