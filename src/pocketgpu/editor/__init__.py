"""What editors are connected to: servers that speak the protocols of editors on the standard streams or a port.

`dap/` steps through shaders (Debug Adapter Protocol), `lsp/` helps with their texts (Language Server Protocol).
`vsix.py` has the extension for VS Code, which uses both.
"""
