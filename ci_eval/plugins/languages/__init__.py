"""The languages, one module each."""

TOGETHER = {"ecmascript": ("javascript", "typescript"), "jvm": ()}
"""Module → the languages in it. `jvm` has none: it holds what Java, Kotlin and Scala share."""
