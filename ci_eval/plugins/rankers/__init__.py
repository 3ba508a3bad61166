"""The completion types, which order the suggestions of engines. Users write their names in capitals."""

TOGETHER = {"lists": ("BASIC", "ALPHABETICAL", "FREQUENCY", "RECENCY", "NGRAM"), "models": ("ML", "PBN")}
