"""Alembic's entry: migrations run on the connection that `db.connection.engine.connect` hands over."""

from contextlib import nullcontext

from alembic import context
from sqlmodel import SQLModel

from stackrank.db.connection.engine import VERSION_TABLE, connect
from stackrank.db.connection.partitions import is_table

shared = context.config.attributes.get("connection")
# Alembic's own commands, which developers use, share no connection.
source = nullcontext(shared) if shared is not None else connect(context.config.attributes.get("url")).connect()

with source as connection:
    context.configure(
        connection=connection, target_metadata=SQLModel.metadata, version_table=VERSION_TABLE, include_name=is_table
    )
    with context.begin_transaction():
        context.run_migrations()
