"""What is in a 3DS capture: states of its draws, features that they use, behaviour that is in doubt."""
