"""The tasks, one file each. A task says what engines are asked to do, and when they have done it."""
