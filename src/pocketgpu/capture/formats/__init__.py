"""Readers and writers of capture files: CiTrace, GX logs, channel logs, and `.pgc` in a folder of its own."""
