"""What several engines use: registers by name, records, semaphores, conditions, fills."""
