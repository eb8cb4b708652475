"""Turns a repository's open problems into proposals that a person decides about."""
