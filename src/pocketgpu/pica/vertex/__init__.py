"""The vertex side of a draw: fetch, vertex and geometry programs, primitive assembly and triangle set-up."""
