"""Tasks from commits that fixed a bug."""
