"""What tricks are made of: files that, when they are run, leave a canary outside the project."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

CLIENTS = (
    "npm npx yarn pnpm corepack pip uv conda mamba poetry hatch buck2 bazel git hg svn gem bundle composer php "
    "mvn gradle sbt cs cmake make ninja gopackagesdriver"
).split()
"""Programs that act upon what a project's files say; engines that start them are found out, too."""

COMPILERS = "cc gcc g++ c++ clang clang++ pkg-config".split()
"""These only read, but take orders: which plugins to load, which programs to run in their place."""


@dataclass
class Trap:
    """A project below `root`, each of whose tricks leaves a file in `canary`, named after the place of the trick."""

    root: Path
    canary: Path
    questions: list[tuple[str, str, int]] = field(default_factory=list)
    """Where an engine is asked: path, text, offset. One that suggests nothing when it has just started is given time,
    so that the first is a question to which it knows an answer."""

    @classmethod
    def below(cls, folder: Path) -> Trap:
        trap = cls(folder / "project", folder / "canary")
        trap.root.mkdir()
        trap.canary.mkdir()
        trap._version_control()
        return trap

    def sprung(self) -> list[str]:
        """The tricks that worked."""
        return sorted(path.name for path in self.canary.iterdir())

    def mark(self, path: str) -> str:
        """The file that the trick at `path` leaves."""
        return str(self.canary / path.replace("/", ":"))

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def ask(self, path: str, text: str) -> None:
        """Write a file, and have it asked where the bar stands."""
        offset = text.index("|")
        self.questions.append((path, text.replace("|", "", 1), offset))
        self.write(path, self.questions[-1][1])

    # ---------------------------------------------------------------------------------------------------- payloads

    def program(self, *paths: str) -> None:
        for path in paths:
            self.write(path, f"#!/bin/sh\n: > '{self.mark(path)}'\nexit 1\n").chmod(0o755)

    def python(self, *paths: str) -> None:
        for path in paths:
            self.write(path, f"open({self.mark(path)!r}, 'w').close()\n\n\ndef seen(): ...\n").chmod(0o755)

    def node(self, *paths: str) -> None:
        for path in paths:
            fs = 'import fs from "node:fs";' if path.endswith(".mjs") else 'const fs = require("node:fs");'
            self.write(path, f'#!/usr/bin/env node\n{fs}\nfs.writeFileSync("{self.mark(path)}", "");\n').chmod(0o755)

    def php(self, *paths: str) -> None:
        for path in paths:
            self.write(path, f"<?php\ntouch('{self.mark(path)}');\nfunction seen() {{}}\n")

    def native(self, path: str) -> Path:
        """A shared library that runs when it is loaded; an empty file without a C compiler."""
        compiler = shutil.which("cc")
        code = "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) "
        code += f'{{ creat("{self.mark(path)}", 420); }}\n'
        target = self.write(path, "")
        if compiler:
            command = [compiler, "-shared", "-fPIC", "-xc", "-", "-o", str(target)]
            subprocess.run(command, input=code.encode(), check=True)
        return target

    def _version_control(self) -> None:
        self.program("evil.sh", ".git/hooks/post-checkout", ".git/hooks/post-index-change", ".envrc")
        commands = "fsmonitor sshCommand pager editor askPass hooksPath".split()
        lines = "".join(f"\t{name} = {self.root}/evil.sh\n" for name in commands)
        self.write(".git/config", f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n{lines}")
        self.write(".git/HEAD", "ref: refs/heads/main\n")
        for folder in ("objects", "refs/heads"):
            (self.root / ".git" / folder).mkdir(parents=True)
        self.write(".tool-versions", "python path:./evil.sh\nnodejs path:./evil.sh\n")


def stand_ins(names: Iterable[str], canary: Path, folder: Path) -> Path:
    """A folder for PATH, in which each of these programs only leaves a canary."""
    folder.mkdir()
    for name in names:
        program = folder / name
        program.write_text(f"#!/bin/sh\n: > '{canary}/program:{name}'\nexit 1\n")
        program.chmod(0o755)
    return folder
