"""The jobs that vary settings over several runs."""
