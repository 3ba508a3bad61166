"""How fast is codebleu-mera beside the programs that it replaces? Both are asked in turns, by the same grammars.

python benchmarks/codebleu.py [--rounds 20] [--pairs 50] [--checkout FOLDER] [PROJECT-FOLDER…]

The pairs are pieces of 40 lines of the files below the folders; without any, the recorded pairs of the tests, joined to
about as many. The other program is `codebleu` 0.7.0 from PyPI; with --checkout, that of github.com/Pstva/code_bleu.
Either runs in a process of its own and answers a line a pair, as ours does. Printed are the processor time of either
process a pair (Linux), and the ratio: of all rounds, and of each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.contracts import Pairing
from ci_eval.plugins.adapters.codebleu import CodeBleu

RECORDED = Path(__file__).parents[1] / "tests" / "graders" / "codebleu.json"
SUFFIXES = {".py": "python", ".java": "java", ".go": "go", ".js": "javascript", ".cs": "csharp"}
LINES = 40
OTHER = """
import json, sys, warnings
sys.path[:0] = sys.argv[1:]
warnings.simplefilter("ignore")
try:
    from codebleu import calc_codebleu
    grade = lambda language, reference, hypothesis: calc_codebleu([reference], [hypothesis], language)["codebleu"]
except ImportError:
    from code_bleu.code_bleu import calc_code_bleu
    grade = lambda language, reference, hypothesis: calc_code_bleu([[reference]], [hypothesis], language)
for line in sys.stdin:
    grade(*json.loads(line))
    print(flush=True)
"""
Pair = tuple[str, str, str]
"""(language, reference, hypothesis)."""


def recorded(count: int) -> Iterator[Pair]:
    """So many, each of several recorded ones of a language."""
    by_language: dict[str, list[str]] = {}
    for each in json.loads(RECORDED.read_text())["pairs"]:
        by_language.setdefault(each["language"], []).extend((each["reference"], each["hypothesis"]))
    chance = random.Random(0)
    for number in range(count):
        language = sorted(by_language)[number % len(by_language)]
        parts = by_language[language]
        yield (
            language.replace("c_sharp", "csharp"),
            "\n".join(chance.sample(parts, 3)),
            "\n".join(chance.sample(parts, 3)),
        )


def found(folders: list[Path], count: int) -> Iterator[Pair]:
    """So many pairs of pieces of one file each, as many of each language as there are."""
    chance = random.Random(0)
    files = [[path for folder in folders for path in sorted(folder.rglob(f"*{end}"))] for end in SUFFIXES]
    for number in range(count):
        end, paths = list(SUFFIXES)[number % len(SUFFIXES)], files[number % len(SUFFIXES)]
        if paths:
            lines = chance.choice(paths).read_text(errors="replace").split("\n")
            begins = [chance.randrange(max(1, len(lines) - LINES)) for _ in range(2)]
            reference, hypothesis = ("\n".join(lines[begin : begin + LINES])[:5000] for begin in begins)
            yield SUFFIXES[end], reference, hypothesis


def processor(pid: int) -> float:
    """Seconds that a process and all it started have used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(processor, map(int, children)))


def timed(ask: Callable[[Pair], object], pid: int, pairs: list[Pair]) -> float:
    """Seconds of its processor time for all."""
    started = processor(pid)
    for pair in pairs:
        ask(pair)
    return processor(pid) - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--checkout", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    pairs = list(found(given.folders, given.pairs) if given.folders else recorded(given.pairs))
    own = CodeBleu("mera", "")
    own.prepare(machine.cache_folder())
    grammars = next((machine.cache_folder() / "graders").glob("codebleu-*"))

    def ask_own(pair: Pair) -> object:
        language, reference, hypothesis = pair
        return own.grade(Pairing(reference=reference, hypothesis=hypothesis, language=language))

    with tempfile.TemporaryDirectory() as temporary:
        other = str(given.checkout or temporary)
        if not given.checkout:
            options = ("--quiet", "--no-deps", "--target", temporary)
            subprocess.run([sys.executable, "-m", "pip", "install", *options, "codebleu==0.7.0"], check=True)
        command = [sys.executable, "-c", OTHER, other, str(grammars)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            asked, answers = process.stdin, process.stdout
            assert asked
            assert answers

            def ask_other(pair: Pair) -> object:
                asked.write(json.dumps([pair[0].replace("csharp", "c_sharp"), *pair[1:]]) + "\n")
                asked.flush()
                return answers.readline()

            ask_own(pairs[0])
            ask_other(pairs[0])
            assert own._running
            rounds = _in_turns((ask_own, own._running[0].pid), (ask_other, process.pid), pairs, given.rounds)
            asked.close()
    own.close()
    ours, others = (sum(times) for times in zip(*rounds, strict=True))
    for name, seconds in (("codebleu-mera", ours), ("the other", others)):
        print(f"{name}: {1000 * seconds / len(pairs) / len(rounds):.1f} ms a pair")
    print(f"the other's time / ours: {others / ours:.2f}  ({', '.join(f'{b / a:.2f}' for a, b in rounds)})")


Asked = tuple[Callable[[Pair], object], int]
"""How a program is asked, and the id of its process."""


def _in_turns(ours: Asked, other: Asked, pairs: list[Pair], rounds: int) -> list[tuple[float, float]]:
    """The times of both in each round; the first one is not counted."""
    times = []
    for number in range(rounds + 1):
        first, second = (ours, other) if number % 2 else (other, ours)
        one, two = timed(*first, pairs), timed(*second, pairs)
        times.append((one, two) if number % 2 else (two, one))
    return times[1:]


if __name__ == "__main__":
    main()
