"""Files for the probe of a Switch: what is sent, and what its answers say."""
