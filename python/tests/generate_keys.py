"""Writes python/tailcut/_keys.py, the types of the configuration keys, from the keys of the Rust side.

A test compares the file; ``python python/tests/generate_keys.py`` writes it anew, with ``tailcut`` in the path of Python.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

import tailcut as tc

FILE = Path(__file__).parents[1] / "tailcut" / "_keys.py"

HEAD = '''"""The keys of a configuration and the types of their values. Made by python/tests/generate_keys.py; do not edit."""

from collections.abc import Sequence
from typing import Literal, TypedDict, Union

Quantity = Union[str, int, float]

#: Keys and values, for the ``overrides`` of ``run``, ``sweep`` and ``config``: a type checker knows them.
Overrides = TypedDict(
    "Overrides",
    {
'''
TAIL = """    },
    total=False,
)
"""

TYPES = {
    "whole number": "int",
    "true or false": "bool",
    "number": "float",
    "text": "str",
    "list of whole numbers": "Sequence[int]",
    "list of numbers": "Sequence[float]",
    "list of times": "Sequence[str]",
    "list of texts": "Sequence[str]",
    "time or list of times": "Union[str, Sequence[str]]",
    'whole number, or "none"': 'Union[int, Literal["none"]]',
    'time, or "none"': "str",
}


def annotation(key: dict[str, Any]) -> str:
    """The type of a key's value."""
    if key["type"] == "one of" and key.get("values"):
        names = ", ".join(f'"{value["name"]}"' for value in key["values"])
        return f"Literal[{names}]"
    return TYPES.get(key["type"], "Quantity")


def text() -> str:
    """The file."""
    lines = [HEAD]
    for key in tc.keys():
        if "[" in key["key"] or key["key"] == "base":
            continue
        lines.extend(f"        # {line}\n" for line in wrap(" ".join(key["what"].split()), 108))
        lines.append(f'        "{key["key"]}": {annotation(key)},\n')
    return "".join([*lines, TAIL])


if __name__ == "__main__":
    FILE.write_text(text())
