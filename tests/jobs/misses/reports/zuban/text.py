# zubanls/zuban#225: names inside a string over several lines
some_symbol = 1

TEXT = """
lorem ipsum

some_s
#     ^ silent

lorem ipsum
"""
