"""The completion types, which order suggestions; the name a user writes is in capitals."""

TOGETHER = {"lists": ("BASIC", "ALPHABETICAL"), "history": ("FREQUENCY", "RECENCY", "NGRAM"), "models": ("ML", "PBN")}
