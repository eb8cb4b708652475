"""The debugger's part inside a sandbox: standard library only, Python 3.8.

`stackrank.extensions.languages.debugging.server` sends these modules, in the order of `MODULES`.
"""

MODULES = ("adapter", "dap", "websocket", "inspector", "breakpoints", "session")
