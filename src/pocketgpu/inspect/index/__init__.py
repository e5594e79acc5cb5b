"""Indexes of recordings: what questions from the command line need again, kept in the cache."""
