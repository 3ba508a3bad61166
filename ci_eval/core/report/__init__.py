"""Reports: what metrics observe in sessions, added up to figures, and handed to reporters."""

from ci_eval.core.report.report import evaluate, report

__all__ = ["evaluate", "report"]
