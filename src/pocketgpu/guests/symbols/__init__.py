"""What an ELF says of a program: segments, functions, source lines, and how to leave a function."""
