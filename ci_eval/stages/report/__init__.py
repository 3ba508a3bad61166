"""Reports: what metrics observe in sessions, added up to figures, and handed to reporters."""

from ci_eval.stages.report.report import evaluate, population, report
from ci_eval.stages.report.tallying import EVERYTHING

__all__ = ["EVERYTHING", "evaluate", "population", "report"]
