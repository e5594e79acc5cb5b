"""The folder of results: rows and pictures as they arrive (`store`), tables at the end (`tables`)."""
