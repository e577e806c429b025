"""Threads over sentences: order, bounds and failures."""

import itertools
import threading
import time

import pytest

from lscfg.errors import InputError
from lscfg.parallel.threads import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order_and_few_items_are_held(threads):
    drawn, done = itertools.count(), 0

    def items():
        for item in range(100):
            assert next(drawn) - done <= 4 * threads
            yield item

    def work(item):
        time.sleep(0.002 if item % 7 == 0 else 0)
        return item * item, threading.current_thread() is threading.main_thread()

    for expected, (result, here) in enumerate(in_order(work, items(), threads)):
        assert result == expected * expected and here == (threads == 1)
        done += 1
    assert done == 100


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_failure_is_raised(threads):
    found = []
    with pytest.raises(ZeroDivisionError):
        for value in in_order(lambda n: 1 // (5 - n), range(100), threads):
            found.append(value)
    assert found == [0, 0, 0, 0, 1]
    with pytest.raises(InputError, match="at least 1, got 0"):
        in_order(abs, [1], 0)
