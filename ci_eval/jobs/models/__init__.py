"""The parts of jobs that deal with language models."""
