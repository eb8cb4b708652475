"""Bugs made out of a tested project: small changes of its source that its tests notice.

`operators` knows the changes, `candidates` finds where they can be made, `reach` which tests get there, `verify`
whether they notice, `write` makes a `repo` benchmark of what holds.
"""
