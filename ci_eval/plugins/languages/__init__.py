"""The languages, one module each."""

TOGETHER = {"ecmascript": ("javascript", "typescript"), "jvm": ()}
"""The languages that share a module; `jvm` serves others, and is none."""
