# zubanls/zuban#119: keywords
def find(names):
    fo
    # ^ expect: for
    whi
    #  ^ expect: while
    ass
    #  ^ expect: assert
