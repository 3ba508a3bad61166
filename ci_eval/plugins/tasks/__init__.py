"""The tasks. A task says what engines are asked to do, and when they have done it."""

TOGETHER = {"completion": ("completion", "imports", "inside", "silent")}
