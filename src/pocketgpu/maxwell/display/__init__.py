"""Pictures of the surfaces that a program shows."""
