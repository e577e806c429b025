"""Workers one by one, for owners with an event loop."""

import asyncio
import os
import signal
import socket
import subprocess
import sys

import pytest
from limits import time_limit
from work import blob, die, made_once, reciprocal, rest, who

from lscfg.errors import WorkerError
from lscfg.parallel.signals import ENDING
from lscfg.parallel.single_worker import Worker
from lscfg.parallel.worker import keep


def run(test):
    """Runs a test with a worker in an event loop; the worker ends with the test."""

    async def whole():
        worker = Worker()
        try:
            await test(worker)
        finally:
            worker.close()
            assert worker.pid is None

    asyncio.run(whole())


def test_it_answers_one_after_the_other():
    async def test(worker):
        pid = await worker.call(who, 0)
        assert pid == worker.pid != os.getpid()
        assert [await worker.call(reciprocal, number) for number in (3, 4)] == [0, 1]
        assert await worker.call(blob, 3) == blob(3) and await worker.call(who, 0) == pid

    run(test)


def test_it_ends_with_its_owner_and_not_by_signals_to_their_group():
    """A system that ends a service sends SIGTERM to all of its processes."""

    async def test(worker):
        call = asyncio.ensure_future(worker.call(rest, 0.5))
        while worker.pid is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        for number in ENDING:
            os.kill(worker.pid, number)
        await call

    run(test)
    code = (
        "import asyncio\nfrom lscfg.parallel.single_worker import Worker\nworker = Worker()\n"
        "print(asyncio.run(worker.call(abs, -3)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")  # without close


def test_starts_at_once_leave_the_signal_mask():
    async def two():
        workers = Worker(), Worker()
        await asyncio.gather(*(worker.call(who, 0) for worker in workers))
        for worker in workers:
            worker.close()

    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    asyncio.run(two())
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_process_of_multiprocessing_ends_without_close():
    code = (
        "import asyncio, multiprocessing\nfrom lscfg.parallel.single_worker import Worker\n"
        "def work():\n    worker = Worker()\n    asyncio.run(worker.call(abs, -3))\n"
        "child = multiprocessing.get_context('fork').Process(target=work)\n"
        "child.start()\nchild.join(20)\nprint(child.exitcode)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_an_error_leaves_it_as_it_is():
    async def test(worker):
        pid = await worker.call(who, 0)
        with pytest.raises(ZeroDivisionError):
            await worker.call(reciprocal, 5)
        assert await worker.call(who, 0) == pid

    run(test)


def test_another_one_takes_the_place_of_one_that_died():
    async def test(worker):
        pid = await worker.call(who, 0)
        with pytest.raises(WorkerError, match=r"a worker process died \(signal SIGKILL\)"):
            await worker.call(die, 7)
        assert await worker.call(who, 0) != pid

    run(test)


def test_the_death_of_an_idle_one_is_not_noticed():
    async def test(worker):
        pid = await worker.call(who, 0)
        os.kill(worker.pid, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert await worker.call(who, 0) not in (pid, os.getpid())

    run(test)


def test_it_can_be_given_up_at_its_work():
    async def test(worker):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await worker.call(rest, 3600)
        assert worker.pid is None
        assert await worker.call(reciprocal, 4) == 1

    with time_limit():
        run(test)


def test_a_stopped_one_does_not_stop_its_owner():
    """Not even with a block larger than the buffer of a socket: the owner's loop goes on."""

    async def test(worker):
        os.kill(await worker.call(who, 0), signal.SIGSTOP)
        call = asyncio.ensure_future(worker.call(len, bytes(20_000_000)))
        for _ in range(10):
            await asyncio.sleep(0.01)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await worker.call(len, bytes(20_000_000)) == 20_000_000

    run(test)


def test_killed_ones_leave_the_table_of_processes():
    async def test(worker):
        pid = await worker.call(who, 0)
        worker.kill()
        for _ in range(500):
            if not os.path.exists(f"/proc/{pid}"):
                break
            await asyncio.sleep(0.01)
        assert not os.path.exists(f"/proc/{pid}")

    run(test)


def test_it_begins_with_what_its_owner_keeps():
    async def test(worker):
        keep("list", 1, lambda: ["kept"])
        assert await worker.call(made_once, 1) == ("kept", False)

    run(test)


def test_it_holds_no_socket_of_its_owner():
    """A client sees the end of its connection although a worker was started meanwhile."""

    async def test(worker):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            await worker.call(who, 0)
            ours.close()
            theirs.settimeout(10)
            assert theirs.recv(1) == b""

    run(test)
