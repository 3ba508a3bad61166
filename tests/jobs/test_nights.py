"""What real engines declare of the files that their answers depend on, held against what they answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.interpret import observable_content
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from tests.command import command

pytestmark = [pytest.mark.slow, pytest.mark.registry, pytest.mark.engine]

BASE = "class Base:\n    def alpha(self) -> int:\n        return 1\n\n    def beta(self) -> str:\n        return 'x'\n"
FILES = {
    "__init__.py": "",
    "base.py": BASE,
    "mid.py": "from pkg.base import Base\n\n\nclass Mid(Base):\n    pass\n\n\ndef make():\n    return Mid()\n",
    "use.py": "from pkg.mid import make\n\nmade = make()\nprint(made.alpha(), made.beta())\n",
    "plain.py": "import os\n\nplace = os.path.join('a', 'b')\nprint(place.upper(), os.getcwd())\n",
    "alone.py": "def lonely(value):\n    return value\n\n\nprint(lonely(3))\n",
}
CALLER = "import pkg.mid\nimport pkg.plain\n\npkg.mid.make = 3\nprint(pkg.plain.place, pkg.mid.make)\n"
"""Uses what others define, and changes it: what an engine would see that looked for that."""


def night(folder: Path, engine: str, name: str, path: str, text: str) -> Workspace:
    """An evaluation after that file got this text."""
    (folder / "p" / "pkg" / path).write_text(text)
    # On a busy machine a first answer may take longer than the usual limit.
    few = ("--set", "actions.strategy.prefix.name=NoPrefix", "--set", "interpret.timeout=60")
    # With auto-import, an answer depends on all files, and nothing is declared.
    given = ("--engine", engine, "--jobs", 1, *few, "--set", "interpret.autoImport=off")
    code, _, said = command("evaluate", "--project", f"path:{folder / 'p'}", *given, "--output", folder / name)
    assert code == 0, said
    return Workspace.open(folder / name)


def answers(workspace: Workspace) -> dict[str, dict[str, object]]:
    """File → session → what it was answered."""
    stored = workspace.sessions(Session)
    return {source.path: {each.id: observable_content(each) for each in sessions} for source, sessions in stored}


@pytest.mark.parametrize("engine", ["basedpyright", pytest.param("pyright", marks=pytest.mark.needs("node", "npm"))])
def test_where_the_declared_files_are_the_same_so_are_the_answers(engine: str, tmp_path: Path) -> None:
    (tmp_path / "p" / "pkg").mkdir(parents=True)
    for path, text in FILES.items():
        (tmp_path / "p" / "pkg" / path).write_text(text)
    first = night(tmp_path, engine, "first", "alone.py", FILES["alone.py"])
    caller = night(tmp_path, engine, "caller", "alone.py", CALLER)
    base = night(tmp_path, engine, "base", "base.py", BASE + "\n    def delta(self) -> int:\n        return 2\n")
    for earlier, later, changed in ((first, caller, {"alone"}), (caller, base, {"base", "mid", "use", "alone"})):
        was, now = earlier.manifest().closures, later.manifest().closures
        assert {path for path in was if was[path] != now[path]} == {f"pkg/{each}.py" for each in changed}
        before, after = answers(earlier), answers(later)
        same = [path for path in before if was[path] == now[path]]
        assert {path: before[path] for path in same} == {path: after[path] for path in same}
    # Else the last file that changed would prove nothing.
    assert answers(caller)["pkg/use.py"] != answers(base)["pkg/use.py"]
