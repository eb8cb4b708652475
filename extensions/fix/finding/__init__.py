"""Find what is to be fixed: failing tests and issues of a repository, as problems that can be played.

What becomes of a problem that was played belongs one folder up.
"""
