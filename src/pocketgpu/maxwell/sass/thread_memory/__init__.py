"""The records of a launch in the work area, and the memory that its threads reach."""
