"""The languages, one module each."""

TOGETHER = {"ecmascript": ("javascript", "typescript"), "jvm": ()}
"""Module → its languages. `jvm` has none; it contains what Java, Kotlin and Scala share."""
