"""The words that count fully in the weighted n-grams of MERA CODE's CodeBLEU: its own lists, at commit 014f2e8."""

KEYWORDS = {
    "python": frozenset(
        """
        False None True and as assert async await break class continue def del elif else except finally for from global
        if import in is lambda nonlocal not or pass raise return try while with yield
        """.split()
    ),
    "java": frozenset(
        """
        abstract assert boolean break byte case catch char class const continue default do double else enum extends
        final finally float for goto if implements import instanceof int interface long native new package private
        protected public return short static strictfp super switch synchronized this throw throws transient try void
        volatile while
        """.split()
    ),
    "go": frozenset(
        """
        break default func interface select case defer go map struct chan else goto package switch const fallthrough if
        range type continue for import return var
        """.split()
    ),
    "javascript": frozenset(
        """
        abstract boolean break byte case catch char class continue const debugger default delete do double else enum
        export extends false final finally float for function goto if implements import in instanceof int interface
        long native new null package private protected public return short static super switch synchronized this throw
        throws transient true try typeof var void while with
        """.split()
    ),
    "csharp": frozenset(
        """
        abstract as base bool break byte case catch char checked class const continue decimal default delegate do double
        else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal
        is lock long namespace new null object operator out override params private protected public readonly ref return
        sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked
        unsafe ushort using virtual void volatile while add alias ascending async await by descending dynamic equals
        from get global group into join let nameof notnull on orderby partial remove select set unmanaged value var when
        where yield
        """.split()
    ),
}
