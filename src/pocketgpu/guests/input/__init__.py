"""What a player does, as a script: `controls.py` says what a console has, `script.py` reads and writes scripts,
`player.py` says what is held in a frame. Nothing here belongs to one console."""
