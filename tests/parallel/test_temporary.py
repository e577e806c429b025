"""Temporary folders go with their objects and at the end of each kind of process, and forks leave them."""

import gc
import multiprocessing
import os
import subprocess
import sys

import pytest
from work import keep_folder

from lscfg.parallel.temporary import TemporaryFolder


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_of_multiprocessing_remove_their_folders(start):
    own = TemporaryFolder()
    context = multiprocessing.get_context(start)
    ours, theirs = context.Pipe()
    process = context.Process(target=keep_folder, args=(theirs,))
    process.start()
    theirs.close()
    path = ours.recv()
    process.join(60)
    assert process.exitcode == 0 and not os.path.lexists(path)
    assert own.path.is_dir()  # it is the parent's
    path = own.path
    del own
    gc.collect()
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_program_removes_its_folders_and_its_fork_leaves_them():
    code = (
        "import os, sys; from lscfg.parallel.temporary import TemporaryFolder\n"
        "kept = TemporaryFolder('lscfg-test-'); print(kept.path, flush=True)\n"
        "child = os.fork()\n"
        "if not child: sys.exit()\n"
        "os.waitpid(child, 0); print(kept.path.is_dir(), kept.path.name.startswith('lscfg-test-'))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    path, *found = done.stdout.split()
    assert found == ["True", "True"] and not os.path.lexists(path)
