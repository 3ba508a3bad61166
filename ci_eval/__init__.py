"""ci-eval measures how good code completion is.

The pipeline has three stages. Each can run alone on an existing workspace:

1. **actions** turns source files into actions: edits and completion calls that type each completable token;
2. **interpret** plays actions with an engine and stores sessions: the engine's answers and how each session ended;
3. **report** computes metrics with intervals from sessions, and writes the reports that users or gates read.

`ci_eval.open(WORKSPACE)` reads a run in a notebook or script (docs/commands.md); the rest of the package may change.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"
__all__ = ["Run", "__version__", "open"]


def __getattr__(name: str) -> object:
    # These names are imported on demand: commands do not need them, and the launcher of engines, which imports this
    # module, must start fast. `__init__.pyi` has the types.
    if name in {"Run", "open"}:
        return getattr(import_module("ci_eval.plugins.exports.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
