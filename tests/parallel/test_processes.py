"""Worker processes that live on."""

import signal

import pytest

from lscfg.parallel.workers import WorkerPool


@pytest.fixture
def deadline():
    """A test that hangs fails."""

    def end(*_):
        raise TimeoutError("the pool does not close")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("first", [0, 1])
def test_two_pools_close_in_any_order(deadline, first):
    """Processes of the second pool hold the first one's connections open."""
    pools = [WorkerPool(2, lambda items, context: ((n, text * context) for n, text in items)) for _ in range(2)]
    assert [pool.map(["a", "b", "c"], 2) for pool in pools] == [["aa", "bb", "cc"]] * 2
    pools[first].close()
    assert pools[1 - first].map(["d"], 1) == ["d"]
    pools[1 - first].close()
