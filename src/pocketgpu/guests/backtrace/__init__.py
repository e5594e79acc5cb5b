"""Who called: back traces from registers, unwinding tables and the stack, one module for each architecture."""
