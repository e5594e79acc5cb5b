"""What a launch keeps in the work area, and the memory that threads reach from there."""
