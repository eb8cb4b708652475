"""A model server that answers from a script: for trying things out without a key, and for tests.

Nothing here asks a model.
"""
