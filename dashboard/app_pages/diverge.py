"""Two episodes of one task, side by side."""
