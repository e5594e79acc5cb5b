"""Channels: what is submitted, the pushbuffer parser, host methods, waits and syncpoints."""
