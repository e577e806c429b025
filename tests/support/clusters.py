"""Clusters of Dask's as real processes, which tests kill, stop and start again."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

SUPPORT = str(Path(__file__).parent)


def forget_sockets():
    """Closes sockets that Dask leaves to the garbage collector, which would warn of them after some other test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):  # a thread of Dask's may hold one for a moment
            gc.collect()
            time.sleep(0.1)


def free_port():
    """A port of 127.0.0.1 that nobody listens to."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


def environment(**more):
    """Workers find lscfg and the functions of tests."""
    parts = [SUPPORT, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, parts)),
        "DASK_LOGGING__DISTRIBUTED": "critical",
        **more,
    }


class RealCluster:
    """A scheduler and workers of one thread, without nannies; ``address`` is where clients go."""

    def __init__(self, folder, through=None):
        self.folder, self.port = folder, free_port()
        self.through = through  # the port at which workers and clients find the scheduler
        self.scheduler, self.workers = None, []

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.through or self.port}"

    def start(self, workers=2):
        words = ["dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = self._run(words)
        for _ in range(workers):
            self.add()

    def add(self, **more):
        words = ["dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        words += ["--host", "127.0.0.1", "--local-directory", str(self.folder)]
        self.workers.append(self._run(words, **more))
        return self.workers[-1]

    def _run(self, words, **more):
        log = open(self.folder / "log", "a")  # noqa: SIM115 (the process has it)
        with log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", f"distributed.cli.{words[0]}", *words[1:]],
                stdout=log,
                stderr=log,
                env=environment(**more),
                cwd=self.folder,
            )

    def kill_scheduler(self):
        end(self.scheduler)

    def end(self):
        for process in [*self.workers, self.scheduler]:
            end(process)


def end(process):
    """Kills a process, stopped or not."""
    if process is not None and process.poll() is None:
        process.kill()
    if process is not None:
        process.wait()


@contextmanager
def real_cluster(folder, workers=2, through=None):
    """A cluster that is gone at the end."""
    cluster = RealCluster(folder, through)
    with ExitStack() as stack:
        stack.callback(cluster.end)
        cluster.start(workers)
        yield cluster


RELAY = """
import asyncio, sys
here, there = map(int, sys.argv[1:])
async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
async def serve(reader, writer):
    try:
        far = await asyncio.open_connection("127.0.0.1", there)
    except OSError:
        return writer.close()
    await asyncio.gather(pump(reader, far[1]), pump(far[0], writer))
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", here)
    print("ready", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def relay(here, there):
    """A process that all bytes go through: stopped, it is a network without packets; killed, one that is cut."""
    process = subprocess.Popen([sys.executable, "-c", RELAY, str(here), str(there)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    try:
        yield process
    finally:
        end(process)
        process.stdout.close()


def until_workers(cluster, count=2):
    """Waits until so many workers have joined."""
    from lscfg.parallel.address import ClusterAddress
    from lscfg.parallel.cluster import Cluster

    with Cluster(ClusterAddress(cluster.address)) as engine:
        until_joined(engine, count)


def until_joined(engine, count=2):
    """Waits until the engine has so many workers."""
    while len(found := engine.client().nthreads()) < count:
        time.sleep(0.05)
    engine.note_workers(found)


def workers_below(pid):
    """Worker processes of ``local:N``, which are children of the program itself."""
    import psutil

    return [one.pid for one in psutil.Process(pid).children() if any("spawn_main" in word for word in one.cmdline())]


def stop_for(process, seconds):
    """Holds a process still for so long."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
