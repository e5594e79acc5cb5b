"""The instruction set: instructions as words, as objects and as text, all by one table (`facts/maxwell/sass`)."""
