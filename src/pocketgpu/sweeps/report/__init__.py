"""The page about a sweep, a folder of files that opens without a server: `report` writes that of a sweep, `findings`
that of pictures that are not as expected. Both make `contents`, of which `data`, `shown` and `files` make the folder."""
