"""Library applets of the Switch, which programs start for a while: the keyboard, the error display and others."""
