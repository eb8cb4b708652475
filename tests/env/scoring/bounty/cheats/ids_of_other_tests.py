"""Tests report under the ids of others."""

CODE = r"""
import _pytest.nodes
_n = _pytest.nodes.Node.nodeid.fget
_pytest.nodes.Node.nodeid = property(lambda self: _n(self).replace("hidden", "cart"))
"""
