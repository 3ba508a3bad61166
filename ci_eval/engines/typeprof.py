"""TypeProf, the type profiler that comes with Debian's Ruby 3.1; its makers call its language server an experiment."""

from __future__ import annotations

import re

from ci_eval.adapters.lsp.engine import LspEngine
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import System
from ci_eval.contracts import Engine

_START = "require 'rubygems'; load Gem.bin_path('typeprof', 'typeprof')"


def command(_place: Place) -> list[str]:
    return ["ruby", "-e", _START, "--", "--lsp", "--stdio"]


ENGINE: Engine = LspEngine(
    name="typeprof",
    summary="the system's Ruby's type profiler as a language server (0.21); finds little: Ruby's night asks words",
    languages=frozenset({"ruby"}),
    licence="MIT",
    recipe=System(
        program="ruby",
        hint="apt-get install ruby",
        ask=("-e", "print Gem::Specification.find_by_name('typeprof').version"),
    ),
    command=command,
    word=re.compile(r"[@$]*\w+[?!]?"),
    reopens=True,
    verified=True,
    toolchains={"ruby": "3.1"},
)
