"""What executes a program: Unicorn, or a recorded program that plays its calls again."""
