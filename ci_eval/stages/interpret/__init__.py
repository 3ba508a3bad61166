"""Stage 2: actions + engine → sessions: what the engine answered, and how each session ended."""

from ci_eval.stages.interpret.keeping import Progress
from ci_eval.stages.interpret.run import EngineSide, in_turns, interpret, write_names
from ci_eval.stages.interpret.tasks import Logging, Setup, Task
from ci_eval.stages.interpret.worker import replay

__all__ = ["EngineSide", "Logging", "Progress", "Setup", "Task", "in_turns", "interpret", "replay", "write_names"]
