"""Requests from arrays and frames."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tailcut._tailcut import Error

NAMES = ("time", "op", "offset", "size")
_OPS = {"read": 0, "r": 0, "write": 1, "w": 1, "trim": 2, "t": 2, "discard": 2, "d": 2, "flush": 3, "f": 3}
_ABOUT = (
    "a workload is a text, a path, or requests: a frame or dict with the columns time, op, offset and size, or four arrays"
)


def columns(requests: Any) -> tuple[bytes, bytes, bytes, bytes]:
    """The columns of requests: times in ns, operations, offsets and sizes in bytes."""
    table = _table(requests)
    missing = [name for name in NAMES if name not in table.column_names]
    if missing:
        raise Error(f"the requests have no column {', '.join(missing)}: they need time, op, offset and size")
    if sys.byteorder != "little":
        raise Error("requests from arrays need a machine with the lowest byte first")
    time, op, offset, size = (_whole(name, table.column(name)) for name in NAMES)
    return _bytes(_times(time)), _bytes(_ops(op)), _bytes(_number("offset", offset)), _bytes(_number("size", size))


def _table(requests: Any) -> pa.Table:
    try:
        if isinstance(requests, pa.Table):
            return requests
        if isinstance(requests, Mapping):
            return pa.table({name: pa.array(of) for name, of in requests.items()})
        if hasattr(requests, "__arrow_c_stream__"):
            return pa.table(requests)
        names = getattr(getattr(requests, "dtype", None), "names", None)
        if names:  # A structured array of numpy.
            return pa.table({name: pa.array(requests[name]) for name in names})
        if isinstance(requests, Sequence) and not isinstance(requests, (str, bytes)) and len(requests) == 4:
            return pa.table({name: pa.array(of) for name, of in zip(NAMES, requests)})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as e:
        raise Error(f"the requests: {e}") from e
    raise Error(f"{_ABOUT}, not {type(requests).__name__}")


def _whole(name: str, column: pa.ChunkedArray) -> pa.Array:
    if column.null_count:
        raise Error(f"column {name}: {column.null_count} of {len(column)} values are missing")
    of = column.combine_chunks()
    whole = pa.concat_arrays(of.chunks) if isinstance(of, pa.ChunkedArray) else of
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _times(times: pa.Array) -> pa.Array:
    kind = times.type
    if pa.types.is_floating(kind):
        # As Python and numpy have times: seconds.
        times = pc.round(pc.multiply(times.cast(pa.float64()), 1e9))
    elif pa.types.is_timestamp(kind):
        times = times.cast(pa.timestamp("ns", tz=kind.tz)).cast(pa.int64())
    elif pa.types.is_duration(kind):
        times = times.cast(pa.duration("ns")).cast(pa.int64())
    return _number("time", times)


def _ops(ops: pa.Array) -> pa.Array:
    if pa.types.is_string(ops.type) or pa.types.is_large_string(ops.type) or pa.types.is_string_view(ops.type):
        encoded = ops.cast(pa.string()).dictionary_encode()
        codes = []
        for name in encoded.dictionary.to_pylist():
            code = _OPS.get(name.strip().lower())
            if code is None:
                raise Error(f"column op: `{name}` is none of read, write, trim and flush")
            codes.append(code)
        return pa.array(codes, pa.uint8()).take(encoded.indices)
    try:
        return ops.cast(pa.uint8())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as e:
        raise Error(f"column op: read, write, trim and flush, or 0 to 3 for these: {e}") from e


def _number(name: str, column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.uint64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as e:
        raise Error(f"column {name}: {e}") from e


def _bytes(column: pa.Array) -> bytes:
    width = column.type.bit_width // 8
    data = column.buffers()[1]
    if data is None:
        return b""
    return bytes(memoryview(data)[column.offset * width : (column.offset + len(column)) * width])


def is_text(workload: Any) -> bool:
    """Whether a workload is named: a text or a path, or several of them."""
    if isinstance(workload, (str, os.PathLike)):
        return True
    return (
        isinstance(workload, Sequence)
        and len(workload) > 0
        and all(isinstance(of, (str, os.PathLike)) for of in workload)
    )
