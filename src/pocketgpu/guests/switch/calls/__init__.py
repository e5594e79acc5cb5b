"""The supervisor calls of the Switch, by what they are about."""
