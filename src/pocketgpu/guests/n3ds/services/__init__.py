"""The services, one module each. `table.py` makes those that a program finds."""
