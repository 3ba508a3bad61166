"""The CI that a job runs in: console output for people, and commands for GitHub Actions and TeamCity."""

from ci_eval.ci.host import Announcement, Check, Host, Problem
from ci_eval.ci.screen import Screen, Steps, host_named

__all__ = ["Announcement", "Check", "Host", "Problem", "Screen", "Steps", "host_named"]
