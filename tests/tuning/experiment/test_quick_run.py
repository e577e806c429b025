"""``lscfg quick`` from a messy file to a service, also after an interruption."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import messy
import pytest


def started(folder, file):
    """Starts the command; its messages go to a file."""
    words = [sys.executable, "-m", "lscfg", "quick", str(file), "--port", "0", "--jobs", "2"]
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(
            words, cwd=folder, stdout=log, stderr=log, start_new_session=True, preexec_fn=_heed_interruptions
        )


def _heed_interruptions():
    """Undoes what a shell does to jobs in the background, whose children would inherit it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(folder, pattern, process, seconds=400):
    """Waits for a line of the messages."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = (folder / "log").read_text("utf-8")
        if found := re.search(pattern, text):
            return found
        assert process.poll() is None, text
        time.sleep(0.1)
    raise AssertionError((folder / "log").read_text("utf-8"))


def translated(address):
    """The answer of the service to a sentence."""
    request = urllib.request.Request(
        f"{address}/translate",
        json.dumps({"source": ["Der Hund schläft im Garten."]}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def test_from_a_spreadsheet_to_a_service(tmp_path):
    [file], _, _ = messy.spreadsheet(tmp_path)
    process = started(tmp_path, file)
    try:
        wait_for(tmp_path, r"stage \d+/\d+ derive: ", process)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        (tmp_path / "log").rename(tmp_path / "first")
        process = started(tmp_path, file)
        address = wait_for(tmp_path, r"http://127\.0\.0\.1:\d+", process)[0]
        wait_for(tmp_path, "translates with MIN; a better system replaces it when ready", process)
        first = (tmp_path / "log").read_text("utf-8")
        assert re.search(r"[1-9]\d* of \d+ stages are already finished", first) and "again:" not in first
        assert "derive: " not in first.replace("derive: taken", "")
        assert "dog" in translated(address)  # while LATENT is trained
        wait_for(tmp_path, f"page: +{address} .Ctrl-C ends it; again: lscfg serve quick/bundle.", process)
        assert "dog" in translated(address)
        rows = {row["system"]: row for row in json.loads((tmp_path / "quick/results.json").read_text())["systems"]}
        better = rows["LATENT"]["dev_bleu"] > rows["MIN"]["dev_bleu"]
        shown = (tmp_path / "log").read_text("utf-8")
        assert ("now translates with LATENT" in shown) == better
        # of the work inside stages, and of the service, nothing shows
        assert not re.search(r"iteration|  weights:|discounts|restart|SIGTERM|\bended\b|drop = \[", shown)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
        with pytest.raises(OSError, match="refused"):
            translated(address)
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
            process.wait(60)
