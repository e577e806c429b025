"""Options of ``lscfg pack`` and ``lscfg serve`` reach what does the work; see ``test_options``."""

import shlex
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from helpers import double
from serve_words import SERVE_LINES

from lscfg.cli import main
from lscfg.parallel.engine import available_cores
from lscfg.serve.settings import ServeSettings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory, with what the lines name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights").write_text("One 1\n")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    (tmp_path / "folder").mkdir()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("pack a folder", ("folder", "bundle", None, None)), ("pack", ("cdec.ini", "bundle", "weights", "folder"))],
)
def test_pack(monkeypatch, name, arguments):
    pack = double(monkeypatch, "lscfg.bundle.pack.pack", SimpleNamespace(files={}))
    assert main(shlex.split(SERVE_LINES[name])) == 0
    pack.assert_called_once_with(*arguments)


@pytest.mark.parametrize(
    ("name", "system", "address", "jobs", "settings"),
    [
        ("serve a folder", ("folder", None), ("127.0.0.1", 8080), available_cores(), ServeSettings()),
        ("serve", ("cdec.ini", "weights"), ("127.0.0.2", 97), 96, ServeSettings(1000, 2, 3, 4, 5, 0.25)),
    ],
)
def test_serve(monkeypatch, name, system, address, jobs, settings):
    pytest.importorskip("h11", reason="lscfg serve needs h11: pip install 'lscfg[serve]'")
    open_system = double(monkeypatch, "lscfg.bundle.system.open_system", "system")
    listen = double(monkeypatch, "lscfg.serve.server.listen", MagicMock())
    application = double(monkeypatch, "lscfg.serve.application.Application", "application")
    pool = double(monkeypatch, "lscfg.serve.pool.WorkerPool", MagicMock())
    server = double(monkeypatch, "lscfg.serve.server.Server", MagicMock())
    double(monkeypatch, "asyncio.run")
    assert main(shlex.split(SERVE_LINES[name])) == 0
    open_system.assert_called_once_with(*system)
    listen.assert_called_once_with(*address)
    pool.assert_called_once_with(jobs)
    application.assert_called_once_with("system", pool.return_value.__enter__.return_value, settings)
    server.assert_called_once_with("application", listen.return_value.__enter__.return_value)
