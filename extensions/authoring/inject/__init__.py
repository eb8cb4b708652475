"""Plants bugs in a tested project: small changes of its source that its tests detect.

`operators` defines the changes, and `candidates` finds where they are possible. `reach` finds the tests that run these
places, `verify` checks whether the tests fail, and `write` creates a `repo` benchmark from the accepted bugs.
"""
