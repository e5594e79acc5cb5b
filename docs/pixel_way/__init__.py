"""The pages "The way of a pixel": what is read from a recording, and how it is written and drawn."""
