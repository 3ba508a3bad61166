# facebook/pyrefly#818: a variable that was assigned twice
fff = 1
fff = fff + 1
ffg = 1
ff
# ^ expect: fff, ffg
