"""Sandboxes by a Docker engine: containers, images with environments, and the rules for both.

What every kind of sandbox does belongs one folder up.
"""
