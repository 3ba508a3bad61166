"""What a project may say it needs: packages whose files want to run."""

from __future__ import annotations

import subprocess
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from tests.engines.hostile import jvm
from tests.engines.hostile.trap import Trap


def wheel(trap: Trap) -> Path:
    """A folder with the wheel that the project in Python needs."""
    package = _beside(trap)
    package.python(
        "sitecustomize.py", "usercustomize.py", "gi/__init__.py", "numpy/__init__.py", "logging.py", "evil.py"
    )
    package.python("plugin.py", "started.py")
    package.write("evil.pth", "import started\n")
    package.write("bom.pth", "\ufeffimport started\n")
    package.write("zz.pth", f"evilpath\n../../../../../project\n{trap.root}\n")
    package.python("evilpath/sitecustomize.py", "evilpath/usercustomize.py", "evilpath/hidden.py")
    package.python("site.py", "json/__init__.py", "encodings/__init__.py", "importlib/__init__.py", "__main__.py")
    package.write("evil-1.0.data/data/pyvenv.cfg", f"home = {trap.root}/bin\ninclude-system-site-packages = true\n")
    package.program("evil-1.0.data/scripts/python", "evil-1.0.data/scripts/python3")
    for name in ("fast", "bare"):
        package.native(f"{name}{EXTENSION_SUFFIXES[0]}")
    package.write("fast.pyi", "def seen() -> int: ...\n")
    metadata = {
        "METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "[pylsp]\nevil = plugin\n",
        "RECORD": "",
    }
    for name, text in metadata.items():
        package.write(f"evil-1.0.dist-info/{name}", text)
    trap.write("requirements.txt", "evil\n")
    for i, name in enumerate(("gi", "numpy", "fast", "bare", "evil", "logging", "hidden", "json")):
        trap.ask(f"app{i}.py", f"import {name}\n\n{name}.|\n")
    _zip(package.root, trap.root.parent / "wheels" / "evil-1.0-py3-none-any.whl")
    return trap.root.parent / "wheels"


def jar(trap: Trap, language: str) -> Path:
    """A folder with the jar that the project needs, as an environment has it."""
    package = _beside(trap)
    if language == "java":
        jvm.services(package, jvm.SERVICES)
        trap.ask("a/A.java", "package a;\n\nimport evil.*;\n\nclass A { int f(EvilPlugin e) { return e.|; } }\n")
    elif language == "kotlin":
        jvm.services(package, jvm.KOTLIN, jvm.jars_of(language))
        trap.ask("a.kt", "fun f(e: evil.EvilComponentRegistrar) = e.|\n")
    else:
        jars = jvm.jars_of(language)
        source = package.write("M.scala", jvm.MACRO % ("m", trap.mark("macro")))
        compiler = ["java", "-cp", jars, "scala.tools.nsc.Main", "-usejavacp", "-d", str(package.root), str(source)]
        subprocess.run(compiler, check=True)
        jvm.compiler_plugin(package, package.root)
        trap.ask("A.scala", "class A {\n  val x = m.M.run\n  def f = { val y = m.M.run; y.| }\n}\n")
    _zip(package.root, trap.root.parent / "environment" / "jars" / "evil.jar")
    return trap.root.parent / "environment"


def _beside(trap: Trap) -> Trap:
    root = trap.root.parent / "package"
    root.mkdir()
    return Trap(root, trap.canary)


def _zip(folder: Path, target: Path) -> None:
    target.parent.mkdir(parents=True)
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            # Java would compile a source anew that is beside its class.
            if path.is_file() and path.suffix not in {".java", ".scala"}:
                archive.write(path, path.relative_to(folder))
