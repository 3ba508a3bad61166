"""The third stage, which computes figures from sessions and writes reports."""

from ci_eval.core.report.report import evaluate, report

__all__ = ["evaluate", "report"]
