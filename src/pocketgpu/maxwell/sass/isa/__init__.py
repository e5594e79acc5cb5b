"""Instructions as words, as objects and as text: one table of forms (`facts/maxwell/sass`) serves all of it."""
