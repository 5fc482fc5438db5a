"""Tables that the extension gives as Parquet."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def read(data: bytes) -> pa.Table:
    """The table."""
    return pq.read_table(pa.BufferReader(data)).replace_schema_metadata(None)


def of_schemes(tables: Iterable[tuple[str, bytes]]) -> pa.Table:
    """The tables of schemes as one, with a first column ``scheme``."""
    parts = []
    for name, data in tables:
        table = read(data)
        names = pa.array([name] * len(table), pa.string())
        parts.append(table.add_column(0, "scheme", names))
    return pa.concat_tables(parts)


def only(table: pa.Table, **values: str | None) -> pa.Table:
    """The rows with these values; ``None`` stands for all."""
    for column, value in values.items():
        if value is not None:
            table = table.filter(pc.equal(table.column(column), value))
    return table
