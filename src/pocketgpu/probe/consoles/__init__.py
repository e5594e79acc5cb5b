"""What each console adds to a probe: its program, and how captures become files that the program can run."""
