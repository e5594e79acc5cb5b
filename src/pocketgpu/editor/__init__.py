"""What editors are connected to: servers that speak the protocols of editors on the standard streams or a port.

`dap/` steps through shaders (Debug Adapter Protocol).
"""
