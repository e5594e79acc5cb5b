"""What programs of the Switch agree on with their kernel: addresses, result codes, messages."""
