"""The completion types, which order suggestions. Users write their names in capitals."""

TOGETHER = {"lists": ("BASIC", "ALPHABETICAL"), "history": ("FREQUENCY", "RECENCY", "NGRAM"), "models": ("ML", "PBN")}
