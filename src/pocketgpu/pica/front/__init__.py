"""The front of the 3D core: walks command lists, records draws and groups them into batches."""
