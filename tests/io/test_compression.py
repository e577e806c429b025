"""Compression: found by content in every reader, whatever the name; damage never passes for an end."""

import bz2
import gzip
import lzma
import os
import random
import sys
import threading

import pytest
from arpa_files import read_arpa
from mutations import mutations

from lscfg.errors import InputError
from lscfg.formats.weights import read_weights
from lscfg.io.arpa import check_arpa
from lscfg.io.compression import compression_of, is_compressed, plain_name
from lscfg.io.read import read_blocks, read_bytes, read_chunks, read_lines, stream_lines
from lscfg.kernel import Grammar
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.prepare.reader import TEXT_READERS


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as module

        return module.compress(data)
    import zstandard

    return zstandard.compress(data)


COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstd}
NAMES = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zst": "Zstandard"}
TEXT = b"".join(b"line %d of the text\n" % number for number in range(3000))
READERS = {
    "bytes": read_bytes,
    "chunks": lambda path: b"".join(read_chunks(path, 777)),
    "lines": lambda path: "".join(f"{line}\n" for line in read_lines(path)).encode(),
    "stream": lambda path: "".join(f"{line}\n" for line in stream_lines(path)).encode(),
    "blocks": lambda path: b"".join(block for block, _ in read_blocks(path, 7)),
}

ARPA = b"""\\data\\
ngram 1=3
ngram 2=1

\\1-grams:
-1\t<unk>\t0
-99\t<s>\t-0.3
-0.7\t</s>\t0

\\2-grams:
-0.1\t<s> </s>

\\end\\
"""


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("ending", COMPRESS)
def test_the_content_decides_and_not_the_name(tmp_path, ending, read):
    data = COMPRESS[ending](TEXT)
    assert compression_of(data) == NAMES[ending]
    for name in ("a", f"a{ending}", "a.txt.gz"):
        (tmp_path / name).write_bytes(data)
        assert read(tmp_path / name) == TEXT
    (tmp_path / f"plain{ending}").write_bytes(TEXT)
    assert read(tmp_path / f"plain{ending}") == TEXT


@pytest.mark.parametrize("ending", COMPRESS)
def test_several_streams_and_zeros_between_them(tmp_path, ending):
    compress = COMPRESS[ending]
    for between in (b"", b"\0" * 8, b"\0" * 4096):
        (tmp_path / "a").write_bytes(compress(b"a\n") + between + compress(TEXT) + between)
        assert read_bytes(tmp_path / "a") == b"a\n" + TEXT
    (tmp_path / "a").write_bytes(compress(b""))
    assert read_lines(tmp_path / "a") == []


SKIPPED = b"\x50\x2a\x4d\x18\x04\0\0\0size"
"""A frame without content, such as pzstd writes before each of its frames."""


def wide(data: bytes, window: int) -> bytes:
    """A frame of one stored block, with a window of 2 ** window bytes, as zstd --long makes."""
    block = (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\0" + bytes([window - 10 << 3]) + block + data


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "data",
    [
        SKIPPED + zstd(TEXT),
        SKIPPED + zstd(TEXT[:1000]) + SKIPPED + zstd(TEXT[1000:]) + b"\x5f\x2a\x4d\x18" + bytes(4),
        wide(TEXT, 27),
        wide(TEXT, 28),
        wide(TEXT, 31),
    ],
    ids=["pzstd", "frames", "--long=27", "--long=28", "--long=31"],
)
def test_zstandard_files_of_pzstd_and_of_large_windows(tmp_path, data, read):
    (tmp_path / "a").write_bytes(data)
    assert compression_of(data[:10]) == "Zstandard" and is_compressed(tmp_path / "a")
    assert read(tmp_path / "a") == TEXT
    (tmp_path / "a").write_bytes(data[:-1])
    with pytest.raises(InputError, match="cut off or damaged"):
        read(tmp_path / "a")


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_cut_file_and_garbage_after_it(tmp_path, ending):
    data = COMPRESS[ending](TEXT)
    for bad in (data[:-1], data[: len(data) // 2], data[:12], data + b"garbage", data + COMPRESS[ending](b"a")[:-2]):
        (tmp_path / "a").write_bytes(bad)
        for read in READERS.values():
            with pytest.raises(InputError, match="a: compressed file is cut off or damaged; make it again"):
                read(tmp_path / "a")


@pytest.mark.parametrize("ending", COMPRESS)
def test_damaged_bytes_end_in_one_clear_error_or_in_the_text(tmp_path, ending):
    rng, data = random.Random(1), COMPRESS[ending](TEXT[:500])
    for _ in range(300):
        (tmp_path / "a").write_bytes(mutations(data, rng))
        try:
            read_lines(tmp_path / "a")
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("ending", COMPRESS)
def test_readers_of_other_formats(tmp_path, ending):
    def made(content):
        (tmp_path / "file").write_bytes(COMPRESS[ending](content))
        return tmp_path / "file"

    assert len(Grammar.from_files([made(b"[X] ||| a ||| b ||| A=1\n")])) == 1
    assert read_weights(made(b"A 1\n")) == {"A": 1.0}
    assert check_arpa(made(ARPA)) == read_arpa(made(ARPA)).order == LanguageModel(made(ARPA), Vocab()).order == 2
    memory = (
        b'<tmx version="1.4"><tu><tuv xml:lang="de"><seg>a</seg></tuv><tuv xml:lang="en"><seg>b</seg></tuv></tu></tmx>'
    )
    for name, content in (("tsv", b"a\tb\n"), ("tmx", memory)):
        reader = TEXT_READERS[name]
        [pair] = reader.read_pairs([made(content)], ("de", "en"), reader.Settings())
        assert (pair.source, pair.target) == ("a", "b")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_language_model_with_a_byte_order_mark(tmp_path, mark):
    for content in (mark + ARPA, gzip.compress(mark + ARPA)):
        (tmp_path / "lm").write_bytes(content)
        assert read_arpa(tmp_path / "lm").order == LanguageModel(tmp_path / "lm", Vocab()).order == 2


def test_without_a_module_for_zstandard_the_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(zstd(TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(InputError, match="Zstandard needs a package: pip install zstandard; or decompress the file"):
        read_bytes(tmp_path / "a")


@pytest.mark.parametrize("text", [b"B", b"BZ", b"BZh91A\n", b"(a\n", b"\x1f", b"BZh9 b\nc\n", b"", b"[X]", b"P*M\n"])
def test_text_that_begins_like_a_compressed_file(tmp_path, text):
    (tmp_path / "a").write_bytes(text)
    assert read_bytes(tmp_path / "a") == text and not is_compressed(tmp_path / "a")


def test_a_pipe_that_brings_its_first_line_byte_by_byte(tmp_path):
    """The first line arrives although its writer waits for an answer before the second one."""
    os.mkfifo(tmp_path / "pipe")
    answered = threading.Event()

    def write():
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            for byte in b"BZ\n":
                pipe.write(bytes([byte]))
                threading.Event().wait(0.01)
            if answered.wait(10):
                pipe.write(b"next\n")

    writer = threading.Thread(target=write)
    writer.start()
    lines = stream_lines(tmp_path / "pipe")
    assert next(lines) == "BZ"
    answered.set()
    assert list(lines) == ["next"]
    writer.join()


def test_names_without_the_ending():
    assert [plain_name(name) for name in ("a.de.gz", "a.TMX.XZ", "a.zst", "a.gz.tsv")] == [
        "a.de",
        "a.TMX",
        "a",
        "a.gz.tsv",
    ]
