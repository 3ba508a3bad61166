"""The third stage: sessions become figures, and figures become reports."""

from ci_eval.core.report.report import evaluate, report

__all__ = ["evaluate", "report"]
