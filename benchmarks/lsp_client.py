"""The language client: CPU time against pygls on the same server, and the share of worker time outside the server.

python benchmarks/lsp_client.py [--rounds N] [--lookups N]     (needs: pip install pygls==2.1.1)

First, one server and one place whose list is long; ours and a client made of pygls and lsprotocol take turns. A lookup
is a typed and a deleted letter and the question, up to a list of what would be inserted. Then, stage 2 with one worker.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from ci_eval.core.config import load
from ci_eval.core.contracts import Edit, Query, Surroundings
from ci_eval.core.interpret import interpret
from ci_eval.core.model import SessionScore
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.preparation import prepare
from ci_eval.plugins.adapters.lsp.engine import LspEngine, RunningLsp
from ci_eval.plugins.adapters.place import Place, variables

CONFIGS = Path(__file__).parent.parent / "configs"
MANY = "".join(f"int value_{i:04}(int first, const char *second);\n" for i in range(2000))
PLACES = {
    "clangd": ("cpp", "a.cpp", f"{MANY}int main() {{ | }}\n"),
    "typescript": ("typescript", "a.ts", "".join(f"declare const value_{i}: string;\n" for i in range(2000)) + "|;\n"),
}


@dataclass(frozen=True)
class Case:
    """A server, and a place in a document."""

    engine: LspEngine
    surroundings: Surroundings
    folder: Path
    name: str
    text: str
    offset: int


def ours(case: Case, lookups: int) -> tuple[float, int]:
    """CPU seconds per lookup, and items."""
    running = RunningLsp(case.engine, case.folder, case.surroundings)
    try:
        running.open(case.name, case.text)
        answer = running.complete(Query(offset=case.offset, prefix="", expected=""))
        began = time.process_time()
        for _ in range(lookups):
            edits: Sequence[Edit] = [(case.offset, 0, "v"), (case.offset, 1, "")]
            running.edit(edits)
            answer = running.complete(Query(offset=case.offset, prefix="", expected=""))
        return (time.process_time() - began) / lookups, len(answer.suggestions)
    finally:
        running.close()


def theirs(case: Case, lookups: int) -> tuple[float, int]:
    """The same with pygls."""
    return asyncio.run(_theirs(case, lookups))


async def _theirs(case: Case, lookups: int) -> tuple[float, int]:
    surroundings = case.surroundings
    place = Place.new(case.folder, surroundings)
    place.renew()
    try:
        client = LanguageClient("benchmark", "1")
        command = [str(part) for part in case.engine.command(place)]
        await client.start_io(
            *command, env=variables(place) | dict(case.engine.variables(place)), cwd=str(place.scratch)
        )
        uri = (place.root / case.name).as_uri()
        await client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=place.root.as_uri(),
                initialization_options=case.engine.options(place),
            )
        )
        client.initialized(types.InitializedParams())
        language = case.engine.language_id(surroundings.language, case.name)
        document = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=case.text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
        asked = types.CompletionParams(
            text_document=types.TextDocumentIdentifier(uri=uri), position=_position(case.text, case.offset)
        )
        while not (found := _texts(await client.text_document_completion_async(asked))):
            await asyncio.sleep(0.2)
        began = time.process_time()
        for turn in range(lookups):
            here, after = _position(case.text, case.offset), _position(case.text, case.offset)
            after.character += 1
            changes: list[Any] = [
                types.TextDocumentContentChangePartial(range=types.Range(start=here, end=here), text="v"),
                types.TextDocumentContentChangePartial(range=types.Range(start=here, end=after), text=""),
            ]
            version = types.VersionedTextDocumentIdentifier(uri=uri, version=turn + 2)
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(text_document=version, content_changes=changes)
            )
            found = _texts(await client.text_document_completion_async(asked))
        taken = (time.process_time() - began) / lookups
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return taken, len(found)
    finally:
        place.remove()


def _position(text: str, offset: int) -> types.Position:
    line = text.count("\n", 0, offset)
    return types.Position(line=line, character=offset - text.rfind("\n", 0, offset) - 1)


def _texts(answer: types.CompletionList | Sequence[types.CompletionItem] | None) -> list[str]:
    items = answer.items if isinstance(answer, types.CompletionList) else answer or []
    return [item.text_edit.new_text if item.text_edit else item.insert_text or item.label for item in items]


def compare_clients(rounds: int, lookups: int) -> None:
    """Print the table of CPU times."""
    print("| server | items | ours, ms of CPU a lookup | pygls | ours / pygls | rounds |\n|---|--:|--:|--:|--:|---|")
    cache = machine.cache_folder()
    for name, (language, file, marked) in PLACES.items():
        engine = engines.CATALOG.load(name)
        assert isinstance(engine, LspEngine)
        folder = engine.install(None, cache).folder
        assert folder
        with tempfile.TemporaryDirectory() as root:
            text = marked.replace("|", "")
            Path(root, file).write_text(text)
            surroundings = Surroundings(
                root=Path(root), language=language, keywords=frozenset(), cache=cache, timeout=60, memory=0
            )
            case = Case(engine, surroundings, folder, file, text, marked.index("|"))
            pairs = [(ours(case, lookups), theirs(case, lookups)) for _ in range(rounds)]
        mine, others = ([side[0] * 1000 for side in sides] for sides in zip(*pairs, strict=True))
        ratios = [a / b for a, b in zip(mine, others, strict=True)]
        items = f"{pairs[0][0][1]:,} / {pairs[0][1][1]:,}"
        cells = [name, items, f"{statistics.median(mine):.1f}", f"{statistics.median(others):.1f}"]
        cells += [f"{statistics.median(ratios):.2f}", ", ".join(f"{ratio:.2f}" for ratio in ratios)]
        print("| " + " | ".join(cells) + " |", flush=True)


def share_outside(rounds: int) -> None:
    """Print how much of a worker's time passes outside the server."""
    for language, name, sessions in (("python", "ty", 2000), ("cpp", "clangd", 300)):
        given = [f"engine={name}", f"interpret.sessionsLimit={sessions}", "interpret.sessionProbability=1"]
        config = load(CONFIGS / f"{language}.yaml", overrides=given).config
        prepared = prepare(config, Screen())
        shares = []
        with tempfile.TemporaryDirectory() as folder:
            source = runs.begin(prepared, Path(folder, "actions"), 1)
            pipeline.make_actions(source, prepared, 2, Screen())
            for turn in range(rounds):
                workspace = runs.copy_actions(source, prepared, Path(folder, f"run-{turn}"), 1)
                sums = interpret(
                    workspace, prepared.setup, probability=1, limit=sessions, jobs=1, advance=lambda *_: None
                )
                waited = sum(
                    lookup.latency / 1000
                    for _, scores in workspace.sessions(SessionScore)
                    for score in scores
                    for lookup in score.lookups
                )
                shares.append(1 - waited / sums.time)
        shown = ", ".join(f"{share:.1%}" for share in shares)
        print(f"{name}: {statistics.median(shares):.1%} of the worker's time outside the server ({shown})", flush=True)


def main() -> None:
    """Print both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--lookups", type=int, default=100)
    asked = options.parse_args()
    compare_clients(asked.rounds, asked.lookups)
    print()
    share_outside(asked.rounds)


if __name__ == "__main__":
    main()
