"""Memory of a Switch: which of it is mapped, and how it looks as a picture."""
