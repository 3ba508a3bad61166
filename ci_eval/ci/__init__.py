"""Console output for people, and commands for the CI that the job runs in (GitHub Actions or TeamCity)."""

from ci_eval.ci.console import Screen, Steps, detect_host
from ci_eval.ci.host import Announcement, Check, Host

__all__ = ["Announcement", "Check", "Host", "Screen", "Steps", "detect_host"]
