"""Text files: what readers refuse, and how files come into being and what is left of them."""

import errno
import gzip
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lscfg.errors import InputError
from lscfg.formats.kbest import read_kbest, read_translations
from lscfg.formats.weights import read_weights
from lscfg.io import folders
from lscfg.io.arpa import check_arpa
from lscfg.io.folders import remove_temporaries, replaced_files, replaced_folder, temporary_folder
from lscfg.io.json_files import write_json
from lscfg.io.read import read_blocks, read_bytes, read_lines, stream_lines
from lscfg.io.write import atomic_write, check_output, check_replaceable, copy_file, write_blocks, write_lines
from lscfg.kernel import Grammar
from lscfg.moses_bridge.config import read_moses_weights

TEXT_READERS = {
    "lines": read_lines,
    "stream": lambda path: list(stream_lines(path)),
    "blocks": lambda path: list(read_blocks(path, 2)),
    "grammar": lambda path: Grammar().read(path),
    "weights": read_weights,
    "k-best": read_kbest,
    "translations": read_translations,
    "moses.ini": read_moses_weights,
}


CONTENT = {
    TEXT_READERS["grammar"]: "[X] ||| a ||| b ||| A=1",
    read_kbest: "0 ||| a ||| A=1 ||| 0.5",
    read_translations: "0 ||| a ||| A=1 ||| 0.5",
    read_moses_weights: "[weight]\nA= 1",
}


@pytest.mark.parametrize("read", [read_bytes, *TEXT_READERS.values()], ids=["bytes", *TEXT_READERS])
def test_an_empty_file_is_no_compressed_one(tmp_path, read):
    path = tmp_path / "a.gz"
    path.touch()
    with pytest.raises(InputError, match=r"a\.gz: compressed file is cut off or damaged; make it again"):
        read(path)


@pytest.mark.parametrize("read", TEXT_READERS.values(), ids=TEXT_READERS)
@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, read, name):
    content = CONTENT.get(read, "LanguageModel 2")
    found = []
    for begin in ("", "\ufeff"):
        write_lines(tmp_path / name, [f"{begin}{content}"])
        found.append(read(tmp_path / name))
    assert found[0] == found[1]


def test_a_file_of_a_byte_order_mark_alone_has_no_line(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf")
    assert (
        read_lines(tmp_path / "a") == list(stream_lines(tmp_path / "a")) == list(read_blocks(tmp_path / "a", 2)) == []
    )
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf\n")
    assert read_lines(tmp_path / "a") == list(stream_lines(tmp_path / "a")) == [""]
    assert list(read_blocks(tmp_path / "a", 2)) == [(b"\n", 1)]


def test_the_rules_of_a_grammar_with_a_byte_order_mark(tmp_path):
    write_lines(tmp_path / "g", ["\ufeff[X] ||| a ||| b ||| A=1"])
    grammar = Grammar.from_files([tmp_path / "g"])
    assert len(grammar) == 1


@pytest.mark.parametrize("read", TEXT_READERS.values(), ids=TEXT_READERS)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("aé\n".encode("utf-16"), "not valid UTF-8; looks like UTF-16: iconv -f UTF-16 -t UTF-8"),
        ("aé\n".encode("utf-32"), "not valid UTF-8; looks like UTF-32: iconv -f UTF-32 -t UTF-8"),
        ("ein Haus\n".encode("utf-16-le"), "not valid UTF-8; looks like UTF-16LE: iconv -f UTF-16LE -t UTF-8"),
        ("ein Haus\n".encode("utf-16-be"), "not valid UTF-8; looks like UTF-16BE: iconv -f UTF-16BE -t UTF-8"),
        (b"a 1\rb 1\r", "lines end in a carriage return alone; convert them: tr"),
        (b"PK\x03\x04\x14\0\x06\0", "not text but a ZIP archive or an office document; unpack it"),
        (b'\xe0\4\0\0\0\0\0\0{"__metadata__":{}}\xff', "not text but a safetensors file, such as models"),
        (b"%PDF-1.7\n%\xb5\xb5", "not text but a PDF document; save its text"),
        (b"PAR1\x15\xff", "not text but a Parquet table; lscfg prepare corpus reads it"),
        (b"mmap lm http://kheafield.com/code\n\xff", "not text but a compiled language model of KenLM; name its ARPA"),
    ],
)
def test_text_that_is_no_text_of_utf8_lines_is_named(tmp_path, read, data, message):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "a")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "encoding", "guess"),
    [
        ("Die Tür war grün und schön.", "latin-1", "Latin-1: iconv -f ISO-8859-1"),
        ("Die Tür – “grün” – war schön.", "windows-1252", "Windows-1252: iconv -f WINDOWS-1252"),
        ("Съешь же ещё этих мягких французских булок", "windows-1251", "Windows-1251 or another"),
        ("彼は学生です。とても元気です", "shift_jis", "Shift_JIS: iconv -f SHIFT_JIS"),
        ("彼は学生です。とても元気です", "euc_jp", "EUC-JP: iconv -f EUC-JP"),
        ("他是学生，身体很好", "gb18030", "GB18030 (or Big5, EUC-KR): iconv -f GB18030"),
    ],
)
def test_other_encodings_are_guessed(tmp_path, text, encoding, guess):
    (tmp_path / "a").write_bytes(f"{text}\n".encode(encoding))
    for read in (read_lines, TEXT_READERS["stream"]):
        with pytest.raises(InputError, match=r"a:1: not valid UTF-8; looks like (.*) -t UTF-8$") as caught:
            read(tmp_path / "a")
        assert guess in str(caught.value)


def test_a_damaged_line_among_others_of_utf8(tmp_path):
    (tmp_path / "a").write_bytes("é\n".encode() + b"\xe9\nb\n")
    (tmp_path / "cut").write_bytes("é\né".encode()[:-1])
    for read in (read_lines, TEXT_READERS["stream"]):
        with pytest.raises(InputError, match="a:2: not valid UTF-8; earlier lines are, so this line is damaged"):
            read(tmp_path / "a")
        with pytest.raises(InputError, match="cut:2: not valid UTF-8; the text ends within a character, so the file"):
            read(tmp_path / "cut")


def test_ends_of_lines(tmp_path):
    (tmp_path / "a").write_bytes(b"a\r\nb\nc\rd\r\r\ne\r")
    assert read_lines(tmp_path / "a") == list(stream_lines(tmp_path / "a")) == ["a", "b", "c\rd", "e"]


@pytest.mark.parametrize("name", ["a.xz", "a.arpa.bz2", "a.zst", "a.GZ", "a.zip"])
def test_an_ending_of_a_compression_that_is_not_written_is_refused(tmp_path, name):
    for write in (check_output, lambda path: write_lines(path, []), lambda path: write_blocks(path, [])):
        with pytest.raises(InputError, match=r"lscfg does not write \.\w+ files; end the name in \.gz"):
            write(tmp_path / name)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("read", [Grammar().read, read_weights, read_kbest, read_translations, read_moses_weights])
def test_a_file_that_is_cut_within_a_number_is_refused(tmp_path, read):
    lines = {
        Grammar().read.__func__: "[X] ||| a ||| b ||| A=0.25",
        read_weights: "A 1\nB 0.25",
        read_kbest: "0 ||| a ||| A=1 ||| 0.25",
        read_translations: "0 ||| a ||| A=1 ||| 0.25",
        read_moses_weights: "[weight]\nA= 0.25",
    }
    path, content = tmp_path / "file", lines[getattr(read, "__func__", read)]
    path.write_text(content + "\n")
    read(path)
    path.write_text(content)
    with pytest.raises(InputError, match=f"file:{content.count(chr(10)) + 1}: the last line has no newline"):
        read(path)


@pytest.mark.parametrize("content", ["", "# LanguageModel 1\n\n"])
def test_a_weights_file_without_a_weight_is_refused(tmp_path, content):
    (tmp_path / "weights").write_text(content)
    with pytest.raises(InputError, match="weights: no weights; expected lines 'name value'"):
        read_weights(tmp_path / "weights")


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/file")
    for content in ("new", "again"):
        write_lines(tmp_path / "link", [content])
        assert (tmp_path / "link").is_symlink() and (tmp_path / "far" / "file").read_text() == f"{content}\n"
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["file"]


def test_a_temporary_of_a_name_that_is_taken_is_not_followed(tmp_path, monkeypatch):
    names = iter([b"\x01", b"\x02"])
    monkeypatch.setattr(folders.os, "urandom", lambda n: next(names))
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".lscfg.01.tmp").symlink_to("victim")
    write_lines(tmp_path / "out", ["a"])
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (tmp_path / "out").is_symlink() and (tmp_path / "out").read_text() == "a\n"


def test_names_of_temporaries_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(20):
        with atomic_write(tmp_path / "out") as file:
            file.write("a")
            names |= {path.name for path in tmp_path.glob(".*")}
    assert len(names) == 20 and not any(str(os.getpid()) in name.split(".") for name in names)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("read", [*TEXT_READERS.values(), check_arpa])
def test_a_device_without_end_is_refused(device, read):
    with pytest.raises(InputError, match=f"^{device}: is a device without an end; name a file$"):
        read(device)


def test_what_a_killed_command_leaves_of_a_folder_goes_with_the_next(tmp_path):
    code = (
        "import os, signal, sys\nfrom lscfg.io.folders import replaced_folder\n"
        "with replaced_folder(sys.argv[1], 'mark') as folder:\n"
        "    (folder / 'mark').write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code, str(tmp_path / "made")], check=False)
    assert run.returncode == -signal.SIGKILL and [path.name for path in tmp_path.iterdir()] != ["made"]
    for words in ("one", "two"):
        with replaced_folder(tmp_path / "made", "mark") as folder, replaced_folder(tmp_path / "other", "mark") as other:
            (folder / "mark").write_text(words)
            (other / "mark").write_text(words)
    assert {path.name for path in tmp_path.iterdir()} == {"made", "other"}
    assert (tmp_path / "made" / "mark").read_text() == "two" == (tmp_path / "other" / "mark").read_text()


def test_a_folder_is_there_while_it_is_replaced(tmp_path):
    """So that a kill between two steps loses nothing, and no reader misses it."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom lscfg.io.folders import replaced_folder\n"
        "for number in range(300):\n  with replaced_folder(sys.argv[1], 'mark') as folder:\n"
        "    (folder / 'mark').write_text(str(number))\n"
    )
    made, missed = tmp_path / "made", 0
    with replaced_folder(made, "mark") as folder:
        (folder / "mark").write_text("")
    (tmp_path / "other").mkdir()
    if not folders._exchanged(tmp_path / "other", made):
        pytest.skip("a file system without exchange of names")
    folders._exchanged(tmp_path / "other", made)
    (tmp_path / "other").rmdir()
    with subprocess.Popen([sys.executable, "-P", "-c", code, str(made)]) as program:
        while program.poll() is None:
            missed += not os.path.lexists(made)
    assert (missed, program.returncode) == (0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["made"] and (made / "mark").read_text() == "299"


def test_a_folder_is_replaced_where_names_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    for words in ("one", "two"):
        with replaced_folder(tmp_path / "made", "mark") as folder:
            (folder / "mark").write_text(words)
    assert [path.name for path in tmp_path.iterdir()] == ["made"] and (tmp_path / "made/mark").read_text() == "two"


def test_the_working_directory_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "made" / "below").mkdir(parents=True)
    (tmp_path / "made" / "mark").touch()
    for folder, name in ((tmp_path / "made", "."), (tmp_path / "made" / "below", "..")):
        monkeypatch.chdir(folder)
        with pytest.raises(InputError, match="contains the working directory"), replaced_folder(name, "mark"):
            raise AssertionError


def test_temporary_folders_of_several_processes_stay(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom lscfg.io.folders import temporary_folder\n"
        "for number in range(400):\n  with temporary_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'a').touch()\n    assert (folder / 'a').exists()\n"
    )
    command = [sys.executable, "-P", "-c", code, str(tmp_path)]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [program.communicate()[1] for program in programs] == [""] * 3 and not [*tmp_path.iterdir()]


def test_a_link_to_a_replaced_folder_goes(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mark").touch()
    (tmp_path / "made").symlink_to("old")
    with replaced_folder(tmp_path / "made", "mark") as folder:
        (folder / "mark").write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {"made", "old"}
    assert not (tmp_path / "made").is_symlink() and (tmp_path / "made" / "mark").read_text() == "new"


def test_a_temporary_folder_goes_at_the_next_call_after_a_kill(tmp_path):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom lscfg.io.folders import temporary_folder\n"
        "with temporary_folder(Path(sys.argv[1])) as folder:\n    (folder / 'a').touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-P", "-c", code, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    with temporary_folder(tmp_path) as folder:
        assert folder.is_dir() and not left.exists()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_lines(tmp_path / "ours", ["a"])
        (tmp_path / "other").write_text("a")
    finally:
        os.umask(before)
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == 0o666 & ~mask


def test_a_failed_write_leaves_nothing_and_the_old_file(tmp_path):
    write_lines(tmp_path / "out", ["old"])

    def blocks():
        yield lambda: b"new\n"
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_blocks(tmp_path / "out", blocks())
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "out", float("inf"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"] and read_lines(tmp_path / "out") == ["old"]


WRITER = """
import sys
from lscfg.io.write import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write("half")
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / ".other.tmp").write_text("of another program")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name in ("a", "below/b", "c")
    ]
    try:
        assert [writer.stdout.readline() for writer in writers] == [b"writing\n"] * 3
        assert len(list(tmp_path.rglob(".lscfg.*.tmp"))) == 3
        for writer in writers[:2]:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        remove_temporaries(tmp_path)
        assert len(list(tmp_path.rglob(".lscfg.*.tmp"))) == 1
        writers[2].communicate(b"")
        assert writers[2].returncode == 0 and (tmp_path / "c").read_text() == "half"
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.tmp", "below", "c"]


def test_a_read_only_file_system_is_called_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(InputError, match=os.strerror(errno.EROFS)):
        check_output(tmp_path / "out")
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=0))
    with pytest.raises(InputError, match="Permission denied"):
        check_output(tmp_path / "out")


@pytest.mark.parametrize("name", ["n" * 300, "loop"])
def test_a_name_that_no_file_can_have_is_one_clear_error(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    if name == "loop":  # a link that leads nowhere is replaced
        write_lines(tmp_path / name, ["a"])
        assert (tmp_path / name).read_text() == "a\n"
    else:
        with pytest.raises(InputError, match="cannot write: File name too long"):
            write_lines(tmp_path / name, ["a"])


def test_what_is_there_is_replaced_only_if_it_is_what_lscfg_writes(tmp_path):
    path = tmp_path / "glue"
    check_replaceable(path)
    path.write_text("ours\n")
    check_replaceable(path, "theirs\n", "ours\n")
    for contents in ((), ("theirs\n",)):
        with pytest.raises(InputError, match="glue: already exists"):
            check_replaceable(path, *contents)


def test_compressed_content_is_read_as_it_was_written(tmp_path):
    write_lines(tmp_path / "a.gz", ["a", "b"])
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"a\nb\n"
    assert read_lines(tmp_path / "a.gz") == list(stream_lines(Path(tmp_path / "a.gz"))) == ["a", "b"]
    assert list(read_blocks(tmp_path / "a.gz", 1)) == [(b"a\n", 1), (b"b\n", 1)]


def test_files_are_replaced_when_all_are_written(tmp_path):
    """Files of an earlier writer go, files of others stay."""
    for name in ("a", "b", "mine", "run2/a", "run3/a", "run3/mine"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old")
    said = rf"^{re.escape(str(tmp_path))}/b: cannot write: File too large"
    with pytest.raises(InputError, match=said), replaced_files(tmp_path, ["a", "b", "run2/a", "run3/a"]) as folder:
        (folder / "a").write_text("new")
        raise InputError("cannot write: File too large", folder / "b")
    assert {path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == {"old"}
    with replaced_files(tmp_path, ["a", "b", "run2/a", "run3/a"]) as folder:
        (folder / "run3").mkdir()
        for name in ("a", "run3/a"):
            (folder / name).write_text("new")
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"a": "new", "mine": "old", "run3/a": "new", "run3/mine": "old"}
    assert not (tmp_path / "run2").exists()
    (tmp_path / "folder" / "a").mkdir(parents=True)
    (tmp_path / "run2").mkdir()  # of the user
    said = r"/folder/a: cannot write: Is a directory$"
    with pytest.raises(InputError, match=said), replaced_files(tmp_path, ["run2/a", "mine/a"]) as folder:
        (folder / "a").write_text("newer")
        (folder / "folder").mkdir()
        (folder / "folder" / "a").write_text("new")
    with replaced_files(tmp_path, ["run2/a", "mine/a"]):
        pass
    assert (tmp_path / "run2").is_dir() and (tmp_path / "a").read_text() == "new"


def test_a_copy_that_does_not_fit_leaves_the_old_file(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 5000)
    (tmp_path / "b").write_bytes(b"old")
    with pytest.raises(InputError, match=r"missing: cannot be copied to .*b: No such file"):
        copy_file(tmp_path / "missing", tmp_path / "b")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match=r"^[^ ]*b: cannot write: File too large"):
            copy_file(tmp_path / "a", tmp_path / "b")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"a": 5000, "b": 3}
    for name in ("b", "b.xz", "b.GZ"):  # a copy is as compressed as what it copies
        copy_file(tmp_path / "a", tmp_path / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "a").read_bytes()
