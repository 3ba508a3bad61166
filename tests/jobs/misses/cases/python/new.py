import json


def ad
#     ^ silent


# a comment: all th
#                  ^ silent


class Reader:
    pass


text = "dum"
#          ^ silent
json.du<CURSOR: dumps>
#      ^ not: Reader
