"""Connections to SQLite and PostgreSQL: the engine, transactions, retries, errors, partitions.

What is stored does not belong here.
"""
