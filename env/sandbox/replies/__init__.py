"""What a sandbox may say: the types of all replies, and the one decoder that every reply passes.

Belongs here: shapes, bounds, and how bytes become values of these types. Not here: requests, and what replies mean.
"""
