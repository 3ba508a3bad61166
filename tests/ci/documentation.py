"""The blocks that the pages about CI ask their readers to copy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ci.md"
PAGES = [PAGE, *(ROOT / "docs" / f"ci-{host}.md" for host in ("github", "gitlab-teamcity"))]


@dataclass(frozen=True)
class Block:
    """What stands between two fences: the number-th one below a heading."""

    heading: str
    number: int
    language: str
    text: str


def blocks() -> Iterator[Block]:
    """All of them, in order."""
    text = "".join(page.read_text() for page in PAGES)
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        for number, (language, block) in enumerate(re.findall(r"^```(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE)):
            yield Block(heading, number, language, block)


def documented(heading: str, number: int = 0) -> str:
    """The text of a block. A test that asks for one must execute it as it is, but for OWNER and COMMIT."""
    (found,) = (block.text for block in blocks() if (block.heading, block.number) == (heading, number))
    return found


def asked_for() -> set[tuple[str, int]]:
    """Heading and number of the blocks that tests ask for."""
    trees = [ast.parse(path.read_text()) for path in Path(__file__).parent.glob("test_*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [[*each.args, ast.Constant(0)] for each in calls if getattr(each.func, "id", "") == "documented"]
    return {(ast.literal_eval(heading), ast.literal_eval(number)) for heading, number, *_ in named}
