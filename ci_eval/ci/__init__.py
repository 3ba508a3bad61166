"""The CI that a job runs in: console output for people, and commands for GitHub Actions and TeamCity."""

from ci_eval.ci.console import Screen, Steps, detect_host
from ci_eval.ci.host import Announcement, Check, Host, Problem

__all__ = ["Announcement", "Check", "Host", "Problem", "Screen", "Steps", "detect_host"]
