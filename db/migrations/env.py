"""Alembic's entry: migrations run on the connection that `db.engine.connect` hands over."""

from contextlib import nullcontext

from alembic import context
from sqlmodel import SQLModel

import stackrank.db.derived_models
import stackrank.db.label_models
import stackrank.db.models
import stackrank.db.proposal_models  # noqa: F401 - all of them fill the metadata
from stackrank.db.engine import VERSION_TABLE, connect
from stackrank.db.partitions import is_table

given = context.config.attributes.get("connection")
# Without one: a developer at alembic's own commands.
source = nullcontext(given) if given is not None else connect(context.config.attributes.get("url")).connect()

with source as connection:
    context.configure(
        connection=connection, target_metadata=SQLModel.metadata, version_table=VERSION_TABLE, include_name=is_table
    )
    with context.begin_transaction():
        context.run_migrations()
