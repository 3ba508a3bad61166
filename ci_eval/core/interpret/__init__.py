"""The second stage: play actions with an engine, and store the engine's answers as sessions, each with a status."""

from ci_eval.core.interpret.assignments import Assignment, Logging, Played, Setup, Turn, chosen
from ci_eval.core.interpret.grading import Grading, grade_anew, list_graders
from ci_eval.core.interpret.pack import SessionEnd, observable_content
from ci_eval.core.interpret.run import EngineSide, Progress, play_files, write_names
from ci_eval.core.interpret.selection import (
    Chosen,
    SessionTable,
    Share,
    count_classes,
    join_phases,
    list_sessions,
    plan,
)
from ci_eval.core.interpret.worker import ask_sessions, replay
