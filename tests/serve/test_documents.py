"""docs/guides/serving.md and docker/Dockerfile agree with the code."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from lscfg.cli import build_parser
from lscfg.command_table import COMMANDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "guides" / "serving.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")


def test_commands_are_understood():
    parser = build_parser(COMMANDS)
    blocks = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    commands = [line.removeprefix("lscfg ") for line in lines if line.startswith("lscfg ")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    commands += [line.partition(" lscfg ")[2] for line in joined if " lscfg " in line and line.startswith("docker run")]
    assert len(commands) == 7
    for command in commands:
        parser.parse_args(shlex.split(command))


def test_keys_and_paths_are_all_there():
    pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")
    from lscfg.serve.application import ROUTES
    from lscfg.serve.libre import KEYS as LIBRE_KEYS
    from lscfg.serve.query import KEYS

    rows = re.findall(r"^\| `(/[\w./{}]+)` \| (\w+) \|", TEXT, re.M)
    assert rows == [(path, ", ".join(methods)) for path, methods in ROUTES.items()]
    for title, keys in (("key of a request", KEYS), ("key of LibreTranslate", LIBRE_KEYS)):
        table = re.search(rf"\| {title} \|.*?\n\n", TEXT, re.S)[0]
        named = [name for cell in re.findall(r"^\| (.*?) \|", table, re.M)[2:] for name in re.findall(r"`(\w+)`", cell)]
        assert named == list(keys)
    answer = json.loads(re.search(r"```json\n(.*?)```", TEXT, re.S)[1])
    assert list(answer["translations"][0]) == ["translation", "score", "parsed", "unknown", "warnings"]


def test_the_image_fetches_packages_alone_and_starts_the_service():
    """No recipe for a decoder: what runs is apt, pip and useradd."""
    plain = re.sub(r"(?m)^#.*\n", "", DOCKERFILE).replace("\\\n", " ")
    runs = re.findall(r"^RUN (?:--mount=\S+ +)?(.*)$", plain, re.M)
    programs = {part.split()[0] for run in runs for part in run.split(" && ")}
    assert programs == {"apt-get", "pip", "useradd", "install", "rm"} and not re.search(
        r"git|curl|wget|https?://(?!127)", plain
    )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*re.search(r"'lscfg\[(.*?)\]'", plain)[1].split(",")} <= {*extras}
    command = json.loads(re.search(r"^CMD (.*)$", plain, re.M)[1])
    args = build_parser(COMMANDS).parse_args(command)
    assert (args.command, args.system, args.address, args.port) == ("serve", "/bundle", "0.0.0.0", 8080)
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", plain, re.M)
    assert [name for _, name in stages] == ["wheels", "installed", "with-cdec", "lscfg"]
    assert stages[-1][0] == "installed"  # no target needs a cdec unless it is asked for
