"""Sandboxes that programs run in while they are debugged: one protocol, three backends, one resident guest.

What agents call belongs in `env/tools`; what runs inside a sandbox, in `guest/`.
"""
