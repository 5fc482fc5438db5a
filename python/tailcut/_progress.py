"""Progress bars by tqdm, if it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Optional, TypeAlias, Union

from tailcut._tailcut import Error

Report: TypeAlias = Callable[[float, str], object]
Progress: TypeAlias = Union[None, bool, Report]


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None


def _watched() -> bool:
    """Whether somebody sees a bar: in a notebook, or at a terminal."""
    return _in_notebook() or (bool(sys.stderr) and sys.stderr.isatty())


def _tqdm() -> Any:
    """The bar of tqdm: a widget in a notebook that has widgets, else text."""
    if _in_notebook() and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm as widget

        return widget
    from tqdm import tqdm

    return tqdm


@contextmanager
def shown(progress: Progress) -> Iterator[Optional[Report]]:
    """What is called with the share that is done and a text; ``None`` if nothing is shown."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not _watched()):
        yield None
        return
    try:
        tqdm = _tqdm()
    except ImportError:
        if progress is True:
            raise Error("progress=True needs tqdm: pip install tqdm") from None
        yield None
        return
    bar: Any = tqdm(total=100.0, bar_format="{percentage:3.0f}% |{bar}| {desc}", leave=False)
    try:

        def report(share: float, text: str) -> None:
            bar.set_description_str(text, refresh=False)
            bar.update(100.0 * share - bar.n)

        yield report
    finally:
        bar.close()
