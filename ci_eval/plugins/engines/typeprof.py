"""The engine typeprof, the type profiler that comes with Debian's Ruby 3.1. Its makers call its language server an
experiment."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NEVER
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import System

STEPS = 10_000
"""The number of steps after which an analysis ends with what it has; they take about a second."""

START = (
    "require 'rubygems'; require 'typeprof'; "
    # Its server gives up after a second by the clock (`config.max_sec = 1` and AnalysisToken in typeprof/lsp.rb): what
    # it then finds depends on how busy the machine is. Steps are counted instead, as `--max-iteration` has it.
    "TypeProf::Utils::TimerCancelToken.define_method(:cancelled?) { false }; "
    "load Gem.bin_path('typeprof', 'typeprof')"
)


def command(_place: Place) -> list[str]:
    return ["ruby", "-e", START, "--", "--lsp", "--stdio", "--max-iteration", str(STEPS)]


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
    why="an analysis ends after a number of steps in place of a second by the clock",
    command=command,
    reopens=True,
    auto_import=NEVER,
    verified=True,
    toolchains={"ruby": "3.1"},
)
