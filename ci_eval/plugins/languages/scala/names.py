"""The words of Scala, and the types that every file knows."""

KEYWORDS = frozenset(
    "abstract case catch class def derives do else end enum export extends extension false final finally for "
    "forSome given if implicit import infix inline lazy macro match new null object opaque open override "
    "package private protected return sealed super then this throw trait transparent true try type using val "
    "var while with yield".split()
)
# The others may be names as well.
HARD = KEYWORDS - frozenset("derives end extension infix inline opaque open transparent using".split())
USUAL = (
    dict.fromkeys(
        "Any AnyRef AnyVal App Array BigDecimal BigInt Boolean Byte Char Double Either Equiv Float Fractional "
        "Function0 Function1 Function2 Int Integral Left Long None Nothing Null Numeric Option Ordered Ordering "
        "PartialFunction Predef Product Right Serializable Short Some StringContext Symbol Tuple1 Tuple2 Tuple3 "
        "Unit".split(),
        "scala",
    )
    | dict.fromkeys("List Map Nil Seq Set Vector Stream".split(), "scala.collection.immutable")
    | dict.fromkeys("IndexedSeq Iterable Iterator Traversable".split(), "scala.collection")
    | dict.fromkeys(
        "Class Comparable Error Exception IllegalArgumentException IllegalStateException IndexOutOfBoundsException "
        "Integer NullPointerException Object Runnable RuntimeException String StringBuilder System Thread Throwable "
        "UnsupportedOperationException".split(),
        "java.lang",
    )
)
"""The types that need no import → their packages."""
