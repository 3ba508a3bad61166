"""ci-eval measures how good code completion is.

Three stages are the whole pipeline, each runnable alone on an existing workspace:

1. **actions**: source files → actions, the typing of each completable token as edits and completion calls;
2. **interpret**: actions + engine → sessions, what the engine answered and how each session ended;
3. **report**: sessions → metrics with intervals, and the reports that users or gates read.

`ci_eval.open(WORKSPACE)` reads a run in a notebook or script (docs/commands.md); the rest of the package may change.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"
__all__ = ["Run", "__version__", "open"]


def __getattr__(name: str) -> object:
    # What commands do not need is imported when it is asked for; `__init__.pyi` has the types. The launcher of engines
    # imports this module, so it imports little.
    if name in {"Run", "open"}:
        return getattr(import_module("ci_eval.plugins.exports.run"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
