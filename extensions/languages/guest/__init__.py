"""The debugger's part inside a sandbox: standard library only, Python 3.8.

`stackrank.extensions.languages.debugging.server` sends these modules, in the order of `MODULES`.
"""

_SHARED = tuple(f"stackrank.env.sandbox.guest.core.{name}" for name in ("allowance", "processes"))
"""What it has in common with the debuggers of Python."""
MODULES = (
    *_SHARED,
    *(f"{__name__}.{name}" for name in ("adapter", "dap", "websocket", "inspector", "breakpoints", "session")),
)
