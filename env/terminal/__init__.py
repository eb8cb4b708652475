"""The host's side of the terminal: typing, waiting, and rendering the screen as text.

The tool that agents call is `env.tools.debugging.terminal`; the terminal itself is in the guest.
"""
