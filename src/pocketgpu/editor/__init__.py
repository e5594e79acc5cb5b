"""Tools for editors."""
