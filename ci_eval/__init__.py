"""ci-eval measures how good code completion is.

Three stages are the whole pipeline, each runnable alone on an existing workspace:

1. **actions**: source files → actions, the typing of each completable token as edits and completion calls;
2. **interpret**: actions + engine → sessions, what the engine answered and how each session ended;
3. **report**: sessions → metrics with intervals, and the reports a person or a gate reads.
"""

__version__ = "0.1.0.dev0"
