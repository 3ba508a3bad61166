# davidhalter/jedi#1009: a keyword as the first word of a function
def a():
    pa
    # ^ expect: pass
