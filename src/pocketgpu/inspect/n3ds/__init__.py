"""The debugger's half for the 3DS: events of a run, moments of it, pixels and their history."""
