"""What an ELF tells of a program: segments, functions, source lines, and how to leave a function."""
