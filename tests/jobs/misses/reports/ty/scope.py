# astral-sh/ty#1464: a name in scope comes before those that need an import
def count(table):
    return t
    #       ^ expect: table; rank <= 1
