"""A file that is being typed, and the other files of its project."""

from __future__ import annotations

FILE = """import os
LIMIT = 3

def load_user(user_name, limit):
    count = limit + LIMIT
    for item in range(count):
        print(item, os.sep)
        user_name = load(us"""


OTHERS = ["def load(user_name):\n    return load(user_id)\n", "load(user_name)\nload(user_name)\n"]
