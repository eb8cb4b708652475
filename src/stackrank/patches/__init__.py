"""Changes of files: the one type for a change (`reading.Patch`), and the form in which git writes it.

A patch made here is valid UTF-8, whatever bytes the files have. Databases, JSON and YAML hold it unchanged, and `git
apply` and `git am` restore every byte. Trees, and applying a patch to one, are in `stackrank.env.patches`.
"""
