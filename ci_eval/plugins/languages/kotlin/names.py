"""The words of Kotlin, and the types that every file knows."""

# The grammars have `as?`, `!in` and `return@` as single leaves, so they are words of their own.
KEYWORDS = frozenset(
    "abstract actual annotation as as? break by catch class companion const constructor context continue crossinline "
    "data do else enum expect external false final finally for fun get if import in infix init inline inner interface "
    "internal is !is !in lateinit noinline null object open operator out override package private protected "
    "public reified return sealed set super suspend tailrec this throw true try typealias val value var vararg "
    "when where while delegate field file property receiver param setparam return@ this@ super@ break@ "
    "continue@".split()
)
USUAL = dict.fromkeys(
    "Any Annotation Array Boolean BooleanArray Byte ByteArray Char CharArray CharSequence Comparable Deprecated "
    "Double DoubleArray Enum Error Exception Float FloatArray Function IllegalArgumentException "
    "IllegalStateException IndexOutOfBoundsException Int IntArray Lazy Long LongArray NoSuchElementException "
    "Nothing NullPointerException Number OptIn Pair Result RuntimeException Short ShortArray String StringBuilder "
    "Suppress Throwable Triple UInt ULong Unit UnsupportedOperationException".split(),
    "kotlin",
) | dict.fromkeys(
    "ArrayList Collection HashMap HashSet Iterable Iterator LinkedHashMap LinkedHashSet List ListIterator Map "
    "MutableCollection MutableIterable MutableIterator MutableList MutableMap MutableSet Sequence Set".split(),
    "kotlin.collections",
)
"""The types that need no import → their packages."""
