"""Are the grades of the task imports right? Asks Python itself at a sample of places, with the packages imported.

python benchmarks/imports_agreement.py WORKSPACE… --python INTERPRETER [--places 50]

The interpreter needs the evaluated project and its dependencies installed, and its code is run. For each place, a
program of its own (below) applies the edits of the suggestion that was graded, imports what the file imports before and
after, and compares the two objects by identity. Nothing of it is shared with the grades but the stored edits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from ci_eval.core.grammar.document import Document
from ci_eval.core.model import DeleteRange, MoveCaret, PrintText, Session, UseImport
from ci_eval.core.scoring import COMPILES, SAME_MODULE, SAME_OBJECT
from ci_eval.core.workspace import Workspace, read_actions

JUDGE = """
import ast, importlib, json, sys

def imported(text, path, name):
    package = path.removesuffix(".py").split("/")
    package = package[:-1]
    for node in ast.walk(ast.parse(text)):
        for alias in getattr(node, "names", []) if isinstance(node, (ast.Import, ast.ImportFrom)) else []:
            if (alias.asname or alias.name) != name:
                continue
            if isinstance(node, ast.Import):
                return alias.name, importlib.import_module(alias.name)
            module = importlib.import_module("." * node.level + (node.module or ""), ".".join(package))
            if not hasattr(module, alias.name):
                importlib.import_module(module.__name__ + "." + alias.name)
            return module.__name__, getattr(module, alias.name)

for line in sys.stdin:
    place = json.loads(line)
    pieces, at = [], 0
    for begin, deleted, new in sorted(place["edits"]):
        pieces += [place["text"][at:begin], new]
        at = begin + deleted
    after = "".join(pieces) + place["text"][at:]
    try:
        compile(after, "after", "exec", dont_inherit=True)
        compiles = True
    except SyntaxError:
        compiles = False
    before, result = (imported(text, place["path"], place["name"]) for text in (place["original"], after))
    kind = "none" if result is None else "other"
    if result is not None and result[1] is before[1]:
        kind = "sameModule" if result[0] == before[0] else "sameObject"
    print(json.dumps({"kind": kind, "compiles": compiles}))
"""


def places(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Yield the places at which a suggestion was graded, with the document as it was asked about."""
    for source, sessions in workspace.sessions(Session):
        texts = dict(_texts(workspace, source.path, source.text))
        for session in sessions:
            lookup = session.lookups[-1] if session.lookups else None
            graded = next((item for item in lookup.suggestions if item.grades), None) if lookup else None
            if lookup is None or graded is None or graded.grades is None:
                continue
            text, caret = texts[session.id]
            main = (caret - len(lookup.prefix), len(lookup.prefix), graded.text)
            right = [kind for kind in (SAME_MODULE, SAME_OBJECT) if graded.grades[kind]]
            yield {
                "id": session.id,
                "path": source.path,
                "name": session.expected_text,
                "original": source.text,
                "text": text,
                "edits": [*(graded.edits or ()), main],
                "kind": right[0] if right else "other",
                "compiles": bool(graded.grades[COMPILES]),
            }


def _texts(workspace: Workspace, path: str, text: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield each session of a file with the document and the caret."""
    document = Document(text)
    for action in read_actions(workspace.actions_path(path)).actions:
        if isinstance(action, MoveCaret | DeleteRange | PrintText):
            document.apply(action)
        elif isinstance(action, UseImport):
            yield action.session, (document.text, document.caret)


def main() -> None:
    """Print how often the two agree, and each place at which they do not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspaces", nargs="+", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--places", type=int, default=50)
    arguments = parser.parse_args()
    everything = [
        (sha256(f"{folder.name} {place['id']}".encode()).hexdigest(), folder.name, place)
        for folder in arguments.workspaces
        for place in places(Workspace.open(folder))
    ]
    sample = sorted(everything, key=lambda entry: entry[0])[: arguments.places]
    asked = "".join(json.dumps(place) + "\n" for *_, place in sample)
    with tempfile.TemporaryDirectory() as folder:
        argv = [arguments.python, "-c", JUDGE]
        judged = subprocess.run(argv, input=asked, check=True, cwd=folder, text=True, capture_output=True).stdout
    verdicts = [json.loads(line) for line in judged.splitlines()]
    agreeing = 0
    for (_, name, place), verdict in zip(sample, verdicts, strict=True):
        if (verdict["kind"], verdict["compiles"]) == (place["kind"], place["compiles"]):
            agreeing += 1
        else:
            print(f"{name} {place['path']} {place['name']}: graded {place['kind']}, {place['compiles']}; is {verdict}")
    kinds = Counter(verdict["kind"] for verdict in verdicts)
    print(f"{agreeing} of {len(sample)} places agree; by Python: {dict(kinds)}, ", end="")
    print(f"{sum(verdict['compiles'] for verdict in verdicts)} compile")


if __name__ == "__main__":
    main()
