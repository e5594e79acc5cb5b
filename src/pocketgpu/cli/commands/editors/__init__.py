"""Commands that editors run: a debug adapter and a language server."""
