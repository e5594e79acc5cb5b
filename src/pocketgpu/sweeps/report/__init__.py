"""The page about a sweep, a folder of files that opens without a server: `report` writes that of a sweep, `findings`
that of pictures that are not as expected. Both make `contents`; `data`, `shown` and `files` make the folder of it."""
