"""Sandboxes that programs run in while they are debugged: one protocol, three backends, one resident guest."""
