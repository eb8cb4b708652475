"""No module is known any more, and none can be found."""

CODE = r"""
import sys

_sys = sys
_sys.path_hooks.clear()
_sys.path_importer_cache.clear()
_sys.meta_path.clear()
_sys.path.clear()
_sys.modules.clear()
"""
