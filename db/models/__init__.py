"""The tables. Pure data: no table knows where its rows come from.

Queries and writes do not belong here.
"""
