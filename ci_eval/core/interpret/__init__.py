"""The second stage: from actions and an engine to sessions, what the engine answered and how each session ended."""

from ci_eval.core.interpret.assignments import Assignment, Logging, Played, Setup, Turn, chosen
from ci_eval.core.interpret.executing import Asked, Executor, LocalPool
from ci_eval.core.interpret.frame import Listed, joined, listed, texts_below
from ci_eval.core.interpret.grading import Grading, grade_anew, names_of
from ci_eval.core.interpret.keeping import Progress
from ci_eval.core.interpret.rounds import answers_of
from ci_eval.core.interpret.run import Chosen, EngineSide, in_turns, interpret, plan, write_names
from ci_eval.core.interpret.worker import replay

__all__ = [
    "Asked",
    "Assignment",
    "Chosen",
    "EngineSide",
    "Executor",
    "Grading",
    "Listed",
    "LocalPool",
    "Logging",
    "Played",
    "Progress",
    "Setup",
    "Turn",
    "answers_of",
    "chosen",
    "grade_anew",
    "in_turns",
    "interpret",
    "joined",
    "listed",
    "names_of",
    "plan",
    "replay",
    "texts_below",
    "write_names",
]
