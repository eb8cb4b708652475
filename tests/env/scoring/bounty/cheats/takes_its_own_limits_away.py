"""Nothing can be opened, written or started any more, in this process and its children."""

CODE = r"""
import resource

for _name in ("NOFILE", "FSIZE", "NPROC", "STACK", "DATA"):
    resource.setrlimit(getattr(resource, "RLIMIT_" + _name), (0, 0))
"""
