"""Draws, put together: plans of states, and draws that compiled code makes by itself."""
