"""The language models at an address: one client for all of them, with a store of answers, and an engine made of it."""
