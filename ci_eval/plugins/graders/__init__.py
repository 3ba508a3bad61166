"""The graders, one file each. A grader measures how close a suggestion is to the expected text."""
