"""A program that runs for the page."""
