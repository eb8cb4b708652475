"""Pytest.toml, which newer versions of pytest read, deselects."""

FILES = {"pytest.toml": '[pytest]\naddopts = ["-k", "nothing_at_all or test_total"]\n'}
