"""The tool `debug`, on the host's side: how each language's programs are built and launched under a debugger.

What happens in the sandbox belongs in `guest/`.
"""
