"""Sandboxes: where a bug lives while it is debugged. One protocol, three backends, one resident guest."""
