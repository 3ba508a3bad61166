"""Token prediction without learning: the tables of docs/token-prediction.md; what a million tokens and training take.

python benchmarks/token_prediction.py [--sessions N] [--projects LANGUAGE…] [--kinds KIND…] [--context ALL LEFT]
python benchmarks/token_prediction.py --published [--sessions N]       nested caches beside a published table
python benchmarks/token_prediction.py --speed FOLDER [--tokens N]      Python code, of which N tokens are predicted

The projects are those of configs/. Each engine is asked for the same tokens of a project (`ci-eval sweep`). Figures
over projects are the mean of the projects' figures, with a 95 % interval by Student's t over projects.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ci_eval.core.model import Session
from ci_eval.core.statistics.student import critical_values
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.languages.python import KEYWORDS
from ci_eval.plugins.learning.code import classify_token, tokenize_lines
from ci_eval.plugins.learning.embedding import Embedding
from ci_eval.plugins.learning.filling import Filler

CONFIGS = Path(__file__).parents[1] / "configs"
NAMES = ["METHOD_CALL", "FIELD", "VARIABLE", "ARGUMENT_NAME", "TYPE_REFERENCE", "IMPORT", "DEFINITION"]
ENGINES = {
    "frequency": "frequency",
    "recency": "recency",
    "ngram, project alone": "{name: ngram, options: {scopes: [project]}}",
    "ngram, file alone": "{name: ngram, options: {scopes: [file]}}",
    "ngram, nested": "ngram",
    "subtoken-beam": "subtoken-beam",
    "embedding": "embedding",
    "embedding, nearness alone": "{name: embedding, options: {prior: 0}}",
    "embedding, no nearness": "{name: embedding, options: {sharpness: 0}}",
}
BASE = "ngram, nested"
METRICS = ["GradedReciprocalRank", "SubtokenF1At1", "RecallAt1", "MeanReciprocalRank", "SubtokenLcsAt1"]
PUBLISHED = {
    "n-gram": ("[project]", 0.5832),
    "nested n-gram": ("[folder, project]", 0.7143),
    "cache n-gram": ("[file, project]", 0.7023),
    "nested cache n-gram": ("[file, folder, project]", 0.7704),
}
"""Model → our scopes, and the mean reciprocal rank of the next token in Java, in the scenario *maintenance* with small
training data: Karampatsis et al., "Big Code != Big Vocabulary" (ICSE 2020), table 3, made with SLP-Core."""
JAVA = (
    "maven:org.apache.commons:commons-lang3:3.14.0",
    "maven:commons-io:commons-io:2.16.1",
    "maven:com.google.code.gson:gson:2.11.0",
    "maven:org.apache.commons:commons-text:1.12.0",
)
FIRST = 10
"""Predictions among which a token counts as found."""


def projects(wanted: list[str]) -> dict[str, str]:
    """Language → SPEC of its night's project."""
    found: dict[str, str] = {}
    for path in sorted(CONFIGS.glob("*.yaml")):
        config = yaml.safe_load(path.read_text())
        if "project" in config and "task" not in config:
            spec = config["project"]
            found.setdefault(config["language"], spec if isinstance(spec, str) else spec["spec"])
    return {name: spec for name, spec in found.items() if not wanted or name in wanted}


def command(*arguments: str) -> None:
    """Run ci-eval; what it says goes to standard error."""
    subprocess.run([sys.executable, "-m", "ci_eval", *arguments], check=True, stdout=sys.stderr)


def swept(
    language: str, spec: str, engines: list[str], context: str, kinds: list[str], sessions: int, folder: Path
) -> dict[str, Any]:
    """The sweep over engines on a project, taken up where it was interrupted. `kinds`: none = all tokens."""
    if not (folder / "sweep.json").exists():
        settings = {
            "actions.strategy.context": context,
            **({"actions.strategy.filters.statementTypes": json.dumps(kinds)} if kinds else {}),
            "interpret.sessionsLimit": str(sessions),
            "interpret.allowedEmpty": "1",
            "interpret.timeout": "60",
            "comparison.metrics": json.dumps(METRICS),
        }
        options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        command(
            *("sweep", "--task", "tokens", "--language", language, "--project", spec, "--output", str(folder)),
            *("--vary", f"engine={', '.join(engines)}", *options, *(["--resume"] if folder.exists() else [])),
        )
    found: dict[str, Any] = json.loads((folder / "sweep.json").read_text())
    return found


def between(values: list[float]) -> str:
    """Their mean with the interval over projects."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    error = float(np.ravel(critical_values(np.array([0.05]), np.array([len(values) - 1.0])))[0])
    half = abs(error) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.3f} ({mean - half:.3f} to {mean + half:.3f})"


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print it as Markdown."""
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def found_in(folder: Path) -> set[str]:
    """The sessions whose token is among the first predictions."""
    return {
        session.id
        for _, sessions in Workspace.open(folder).sessions(Session)
        for session in sessions
        if session.lookups and (session.lookups[-1].rank or FIRST + 1) <= FIRST
    }


def experiment(given: argparse.Namespace) -> None:
    """All tables."""
    output = given.output or Path(tempfile.mkdtemp())
    for context in given.context:
        figures: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in ENGINES}
        rows, alone = [], defaultdict[str, list[float]](list)
        vocabulary = []
        for language, spec in projects(given.projects).items():
            folder = output / f"{language}-{context}"
            sweep = swept(language, spec, list(ENGINES.values()), context, given.kinds, given.sessions, folder)
            runs = dict(zip(ENGINES, sweep["runs"], strict=True))
            manifest = Workspace.open(folder / runs[BASE]["workspace"]).manifest()
            name = f"{manifest.project.name} ({language})"
            for engine, run in runs.items():
                for metric in METRICS:
                    figures[engine][metric].append(run["figures"][metric]["value"])
            shown = runs[BASE]["figures"]["GradedReciprocalRank"]
            rows.append([name, f"{runs[BASE]['sessions']:,}", *(_figure(runs[each]) for each in ENGINES)])
            assert shown["low"] is not None
            if words := manifest.vocabulary:
                vocabulary.append(
                    [name, f"{words.tokens:,}", f"{words.texts:,}", f"{words.open:.1%}", f"{words.new:.1%}"]
                )
            hits = {engine: found_in(folder / run["workspace"]) for engine, run in runs.items()}
            simple = hits["frequency"] | hits["recency"] | hits[BASE]
            asked = runs[BASE]["sessions"]
            alone["frequency, recency or ngram"].append(len(simple) / asked)
            for engine in ("embedding", "subtoken-beam"):
                alone[f"{engine}, and none of these"].append(len(hits[engine] - simple) / asked)
        title = f"context {context}, {', '.join(given.kinds)}"
        table(f"Vocabulary, {title}", ["project", "tokens", "texts", "open-vocabulary rate", "new"], vocabulary)
        table(f"GradedReciprocalRank, {title}", ["project", "tokens asked", *ENGINES], rows)
        table(
            f"Mean over {len(rows)} projects, {title}",
            ["engine", *METRICS],
            [[engine, *(between(values[metric]) for metric in METRICS)] for engine, values in figures.items()],
        )
        table(
            f"Difference from `{BASE}`, mean over projects, {title}",
            ["engine", *METRICS],
            [
                [engine, *(between(_minus(values[metric], figures[BASE][metric])) for metric in METRICS)]
                for engine, values in figures.items()
                if engine != BASE
            ],
        )
        table(
            f"Share of tokens among the first {FIRST} predictions, {title}",
            ["of", "share"],
            [[engine, between(values)] for engine, values in alone.items()],
        )


def _figure(run: dict[str, Any]) -> str:
    found = run["figures"]["GradedReciprocalRank"]
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def _minus(one: list[float], other: list[float]) -> list[float]:
    return [a - b for a, b in zip(one, other, strict=True)]


def published(given: argparse.Namespace) -> None:
    """Our mean reciprocal ranks of all tokens of Java, from what is before them, beside the published ones."""
    output = given.output or Path(tempfile.mkdtemp())
    engines = [f"{{name: ngram, options: {{scopes: {scopes}}}}}" for scopes, _ in PUBLISHED.values()]
    found: dict[str, list[float]] = defaultdict(list)
    for number, spec in enumerate(JAVA):
        runs = swept("java", spec, engines, "LEFT", [], given.sessions, output / f"java-{number}")["runs"]
        for model, run in zip(PUBLISHED, runs, strict=True):
            found[model].append(run["figures"]["MeanReciprocalRank"]["value"])
    table(
        "Mean reciprocal rank of the next token, Java",
        ["model", "published", *(spec.partition(":")[2] for spec in JAVA), "mean"],
        [
            [model, f"{there:.3f}", *(f"{each:.3f}" for each in found[model]), between(found[model])]
            for model, (_, there) in PUBLISHED.items()
        ],
    )


def speed(folder: Path, tokens: int) -> None:
    """A run of `ngram` over that many tokens on two workers; and the training of the embedding."""
    with tempfile.TemporaryDirectory() as made:
        started = time.perf_counter()
        command(
            *("evaluate", "--task", "tokens", "--engine", "ngram", "--project", f"path:{folder}", "--jobs", "2"),
            *("--set", "actions.strategy.context=LEFT", "--set", f"interpret.sessionsLimit={tokens}"),
            *("--output", f"{made}/out"),
        )
        seconds = time.perf_counter() - started
        asked = Workspace.open(Path(made, "out")).manifest().finished
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"ngram: {asked:,} tokens in {seconds:.0f} s, {(used.ru_utime + used.ru_stime) / asked * 1e6:.0f} µs of")
    print(f"processor time each, {used.ru_maxrss / 1024:.0f} MB in the largest process; {os.cpu_count()} cores")
    texts = [path.read_text(errors="replace") for path in sorted(folder.rglob("*.py"))]
    started = time.perf_counter()
    files = [list(tokenize_lines(text, "python")) for text in texts]
    filler = Filler(files, lambda token: classify_token(token, KEYWORDS), str.isidentifier)
    vectors = Embedding.trained(map(filler.vector_units, files), vocabulary=4000, dimensions=100, window=8, seed=0)
    size = sum(map(len, texts)) / 1e6
    print(
        f"embedding: {len(vectors.units):,} vectors of {size:.1f} MB in {time.perf_counter() - started:.1f} s, at most"
    )
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--projects", nargs="+", default=[])
    parser.add_argument("--kinds", nargs="+", default=NAMES)
    parser.add_argument("--context", nargs="+", default=["ALL", "LEFT"])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--speed", type=Path)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments.speed, arguments.tokens)
    elif arguments.published:
        published(arguments)
    else:
        experiment(arguments)
