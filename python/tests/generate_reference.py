"""Writes the reference in docs/python.md from the signatures and descriptions of the package.

A test compares it; ``python python/tests/generate_reference.py`` writes it anew, with ``tailcut`` in the path of Python.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import tailcut as tc

FILE = Path(__file__).parents[2] / "docs" / "python.md"
MARK = "## Reference\n"


def described(of: Any) -> str:
    """The description as Markdown: code is in single quotes of Markdown, and arguments are a list."""
    text = inspect.getdoc(of) or ""
    text = re.sub(r"``(.+?)``", r"`\1`", text, flags=re.S)
    return re.sub(r"^([a-z_]+(?:, [a-z_]+)*): ", r"- `\1`: ", text, flags=re.M)


def parameter(of: inspect.Parameter) -> str:
    """A parameter with its type and default."""
    default = "" if of.default is of.empty else f" = {of.default!r}"
    annotation = "" if of.annotation is of.empty else f": {of.annotation}"
    return f"{of.name}{annotation}{default}"


def signature(name: str, of: Any) -> str:
    """A call, with an argument a line where it is long."""
    all_of = [p for p in inspect.signature(of).parameters.values() if p.name != "self"]
    parameters = [parameter(p) for p in all_of]
    keyword = sum(p.kind is p.KEYWORD_ONLY for p in all_of)
    if keyword:
        parameters.insert(len(parameters) - keyword, "*")
    returns = inspect.signature(of).return_annotation
    result = "" if returns in (None, "None", inspect.Signature.empty) else f" -> {returns}"
    line = f"{name}({', '.join(parameters)}){result}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {p},\n" for p in parameters) + f"){result}"


def members(cls: type) -> str:
    """The public members of a class."""
    rows = []
    made = {name: of for name, of in vars(cls).items() if not name.startswith("_")}
    # The members of a class of the extension have no order of their own.
    extension = any(inspect.isgetsetdescriptor(of) for of in made.values())
    for name, of in sorted(made.items()) if extension else made.items():
        if isinstance(of, property):
            rows.append(f"- `{name}`: {described(of.fget)}")
        elif inspect.isgetsetdescriptor(of):
            rows.append(f"- `{name}`: {described(of)}")
        elif inspect.isfunction(of) or inspect.ismethoddescriptor(of):
            rows.append(f"- `{signature(name, of)}`: {described(of)}")
    return "\n".join(rows)


def text() -> str:
    """The reference."""
    parts = [MARK, "\nMade from the package by `python/tests/generate_reference.py`.\n"]
    names = [name for name in tc.__all__ if name not in ("__version__", "MODEL_VERSION", "OCCUPANTS", "Overrides", "PARAMETERS", "Policy")]
    for name in sorted(names, key=lambda name: (inspect.isclass(getattr(tc, name)), name)):
        of = getattr(tc, name)
        if inspect.isclass(of):
            parts.append(f"\n### `{name}`\n\n{described(of)}\n")
            inside = members(of)
            if inside:
                parts.append(f"\n{inside}\n")
        else:
            parts.append(f"\n### `{name}`\n\n```python\n{signature(name, of)}\n```\n\n{described(of)}\n")
    return "".join(parts)


def page() -> str:
    """The page with the reference."""
    return FILE.read_text().split(MARK)[0] + text()


if __name__ == "__main__":
    FILE.write_text(page())
