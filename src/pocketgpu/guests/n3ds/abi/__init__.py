"""What programs of the 3DS and its system agree on: addresses, result codes, messages, shared memory."""
