"""The process that does the work of a worker: what it says (`messages`), and who starts and ends it (`keeper`)."""
