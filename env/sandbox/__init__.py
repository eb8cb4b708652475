"""Sandboxes, in which programs run while they are debugged: one protocol, three backends, one resident guest."""
