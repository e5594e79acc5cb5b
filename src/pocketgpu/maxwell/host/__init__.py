"""Channels: submissions, the pushbuffer parser, host methods, waits and syncpoints."""
