"""What is in a Switch recording: methods that it uses, and behaviour that is in doubt."""
