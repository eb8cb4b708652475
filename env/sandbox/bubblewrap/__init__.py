"""Sandboxes by bubblewrap: mounts, environments, control groups, and dropping root.

What every kind of sandbox does belongs one folder up.
"""
