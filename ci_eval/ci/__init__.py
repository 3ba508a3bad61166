"""Where a job runs: what a person sees of it, and what GitHub Actions or TeamCity are told."""

from ci_eval.ci.host import Announcement, Check, Host, Problem
from ci_eval.ci.screen import Screen, Steps, host_named

__all__ = ["Announcement", "Check", "Host", "Problem", "Screen", "Steps", "host_named"]
