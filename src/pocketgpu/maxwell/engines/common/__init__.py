"""Shared by several engines: registers by name, records, semaphores, conditions, fills."""
