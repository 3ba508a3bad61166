"""The jobs that lead from a miss to what should be fixed."""
