"""The notebooks of the documentation run, at a small size."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILCUT_REQUESTS", "3000")
    monkeypatch.setenv("TAILCUT_BLOCKS", "32")
    monkeypatch.setenv("TAILCUT_PAGES", "48")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert all(not cell.get("outputs") for cell in book.cells), "notebooks are kept without their outputs"
    nbclient.NotebookClient(book, timeout=400, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    pictures = [out for cell in book.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert pictures, "it draws nothing"
