"""The tasks. A task defines what engines are asked to do, and which answers are right."""

TOGETHER = {"completion": ("completion", "imports", "inside", "silent")}
