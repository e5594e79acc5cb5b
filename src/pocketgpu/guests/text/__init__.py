"""Text in pictures: what programs print on a console that the processor draws."""
