"""Work whose pieces need one another."""

import threading
import time

import pytest

from lscfg.parallel.order import as_needed

NEEDS = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}, "e": set()}
ITEMS = {name: name for name in NEEDS}


def never():
    raise AssertionError("nothing failed")


@pytest.mark.parametrize("at_once", [1, 2, 7])
def test_each_begins_after_what_it_needs(at_once):
    begun, under_way, most = [], set(), 0
    lock = threading.Lock()

    def work(item):
        nonlocal most
        with lock:
            begun.append(item)
            under_way.add(item)
            most = max(most, len(under_way))
        time.sleep(0.01)
        with lock:
            under_way.remove(item)
        return item * 2

    done = []
    for item, result in as_needed(ITEMS, NEEDS.__getitem__, work, at_once, never):
        assert result == item * 2 and NEEDS[item] <= set(done)
        done.append(item)
    assert sorted(done) == sorted(ITEMS)
    assert most <= at_once
    if at_once == 1:
        assert begun == ["a", "b", "c", "d", "e"]


def test_a_failure_stops_the_rest():
    stopped = threading.Event()

    def work(item):
        if item == "b":
            raise KeyError(item)
        if item == "c":
            assert stopped.wait(10)
        return item

    with pytest.raises(KeyError, match="b"):
        list(as_needed(ITEMS, NEEDS.__getitem__, work, 3, stopped.set))
    assert stopped.is_set()


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="2 items wait for each other"):
        list(as_needed({1: 1, 2: 2}, {1: {2}, 2: {1}}.__getitem__, str, 2, lambda: None))
