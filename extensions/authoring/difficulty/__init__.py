"""How difficult a bug is to find, measured without a model.

Which lines a test runs, and how suspicious they are, belongs in `env/localisation`.
"""
