"""Programs of the 3DS: its supervisor calls (`calls/`), messages to services and the services themselves."""
