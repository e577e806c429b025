"""Kills processes that store corrections, at random times: ``python killed_writers.py FOLDER KILLS``.

Each process reports every correction that it has stored. Prints the number of reported corrections; exits with status 1
if the journal lacks one, or contains others than the last that each process may not have reported.
"""

import os
import random
import signal
import sys
import time

from lscfg.decode.memory import Memory


def write(folder: str, name: str, pipe: int) -> None:
    """Stores corrections until the process is killed."""
    memory = Memory(folder, lambda source, target: [(0, 0)])
    for number in range(100_000):
        pair, _ = memory.add(f"{name} {number}", "x " * (number % 50 + 1))
        os.write(pipe, f"{pair.source}\n".encode())


def main(folder: str, kills: int) -> int:
    """Kills as many writers, then compares."""
    rng, reported = random.Random(3), set[str]()
    for kill in range(kills):
        read, pipe = os.pipe()
        child = os.fork()
        if not child:
            write(folder, f"w{kill}", pipe)
        os.close(pipe)
        os.read(read, 1)  # the first has been stored
        time.sleep(rng.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(read, "rb") as file:
            reported.update(("w" + file.read().decode()).split("\n")[:-1])
    found = {pair.source for pair in Memory(folder).pairs}
    print(len(reported))
    return int(not reported <= found or len(found) > len(reported) + kills or len(reported) < kills)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
