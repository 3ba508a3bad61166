"""Run the commands of docs/results/benchmarks.md, and write what they print below them.

python benchmarks/document.py [WORD…]

WORDS choose sections: those that have one of them in their title. Without any it takes hours, on a machine that does
nothing else.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

from ci_eval.core import machine

PAGE = Path(__file__).parents[1] / "docs" / "results" / "benchmarks.md"
PROGRAM = ".venv/bin/python "
BLOCK = re.compile(rf"```sh\n((?:{re.escape(PROGRAM)}[^\n]*\n)+)```\n(\n```text\n.*?```\n)?", re.DOTALL)
"""The commands of a section, and what they printed the last time."""


def printed(command: str) -> str:
    """What it prints; what it says meanwhile goes to standard error."""
    words = command.partition("#")[0].removeprefix(PROGRAM).split()
    done = subprocess.run([sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True, cwd=PAGE.parents[2])
    return done.stdout


def measured(block: re.Match[str]) -> str:
    """The same commands, with what they print now."""
    when = f"{datetime.datetime.now(datetime.timezone.utc).date()}, {machine.cpu()}"
    shown = "".join(printed(command) for command in block[1].splitlines())
    return f"```sh\n{block[1]}```\n\n```text\n{when}\n\n{shown.strip()}\n```\n"


def main() -> None:
    """Section after section: what is measured stays, whatever becomes of the next."""
    wanted = sys.argv[1:]
    for title in re.findall(r"^## (.*)$", PAGE.read_text(), re.MULTILINE):
        if wanted and not any(word.lower() in title.lower() for word in wanted):
            continue
        print(title, file=sys.stderr)
        head, mark, rest = PAGE.read_text().partition(f"## {title}\n")
        section, following, others = rest.partition("\n## ")
        PAGE.write_text(head + mark + BLOCK.sub(measured, section) + following + others)


if __name__ == "__main__":
    main()
