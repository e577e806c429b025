"""The engine over a cluster: order, failures, and faults of workers, scheduler, disk and network."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from limits import time_limit

pytest.importorskip("distributed", reason="needs lscfg[cluster]")
pytest.importorskip("cryptography", reason="needs lscfg[cluster]")

from clusters import RealCluster, environment, forget_sockets, free_port, real_cluster, relay, stop_for, until_joined
from work import bad_input, blob, die, disk_full, disk_full_where_told, reciprocal, slowly, square, two_parts, who

import lscfg
from lscfg.errors import InputError, KernelError, WorkerError
from lscfg.parallel import cluster_call
from lscfg.parallel.address import ClusterAddress
from lscfg.parallel.choose import in_processes, on_cluster, read_cluster
from lscfg.parallel.cluster import Cluster
from lscfg.parallel.engine import Serial

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask closes its sockets late


@pytest.fixture(scope="module", autouse=True)
def sockets():
    yield
    forget_sockets()


@pytest.fixture(autouse=True)
def deadline():
    """A test that hangs fails."""
    with time_limit():
        yield


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Engines look after their workers more often than they need to."""
    monkeypatch.setattr(cluster_call, "GLANCE", 0.2)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A cluster whose workers no test ends."""
    with real_cluster(tmp_path_factory.mktemp("shared")) as cluster:
        yield cluster


@pytest.fixture
def engine(shared):
    with Cluster(ClusterAddress(shared.address)) as engine:
        until_joined(engine, 2)
        yield engine


def impatient(cluster):
    """An engine of two workers that waits for nobody longer than a second, once they are there."""
    engine = Cluster(ClusterAddress(cluster.address))
    until_joined(engine, 2)
    engine._address = ClusterAddress(cluster.address, patience=1)
    return engine


def later(seconds, action):
    """Does something while the engine is at work."""
    timer = threading.Timer(seconds, action)
    timer.start()
    return timer


def test_results_are_in_order_and_few_blocks_are_held(engine):
    drawn, done, most = itertools.count(), 0, 0

    def blocks():
        nonlocal most
        for block in range(200):
            most = max(most, next(drawn) - done)
            yield block

    for expected, result in enumerate(engine.map(square, blocks())):
        assert result == expected * expected
        done += 1
    assert done == 200
    assert most <= Cluster.AHEAD * engine.workers + Cluster.BATCH


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 33])
def test_any_number_of_blocks(engine, count):
    assert list(engine.map(square, range(count))) == [n * n for n in range(count)]


def test_large_results(engine):
    assert list(engine.map(blob, range(40))) == [blob(n) for n in range(40)]


def test_all_workers_have_something_to_do(engine):
    assert len(set(engine.map(who, range(64)))) == 2


def test_batches_go_to_the_same_workers_again(engine):
    first, second = (list(engine.map(who, range(32))) for _ in range(2))
    assert sum(a == b for a, b in zip(first, second, strict=True)) >= 16


def test_engines_have_workers_of_their_own(shared):
    found = []
    for part in (0, 1):
        with Cluster(ClusterAddress(shared.address, part=(part, 2))) as engine:
            until_joined(engine, 2)
            assert engine.workers == 1
            found.append(set(engine.map(who, range(8))))
    assert found[0] and found[0].isdisjoint(found[1])


def test_a_part_without_workers_has_all(shared):
    with Cluster(ClusterAddress(shared.address, part=(2, 3))) as engine:
        until_joined(engine, 2)
        assert engine.workers == 2
        assert list(engine.map(square, range(9))) == [n * n for n in range(9)]


def test_a_closed_engine_ends_its_calls_and_takes_new_ones(engine):
    results = engine.map(slowly, range(100))
    assert next(results) == 0
    engine.close()
    assert list(engine.map(square, range(3))) == [0, 1, 4]  # over a new connection
    with pytest.raises(WorkerError, match="the engine was closed"):
        list(results)


def test_a_call_that_is_given_up_does_not_wait_for_the_client(engine):
    """It may be closed by now: an interrupted run would never end."""
    results, hold, held = engine.map(square, range(20)), threading.Event(), []
    assert next(results) == 0
    engine.client().loop.add_callback(lambda: held.append(hold.wait(20)))
    results.close()
    assert held == []
    hold.set()
    assert list(engine.map(square, range(3))) == [0, 1, 4]


def test_a_client_that_is_closed_meanwhile_is_not_waited_for(engine):
    call = cluster_call.ClusterCall(engine, "call", square, 2, 1)
    hold = threading.Event()
    call._client.loop.add_callback(hold.wait, 20)
    with pytest.raises(TimeoutError):
        call._ask(call._client.nthreads, 0.1)
    hold.set()
    assert len(call._ask(call._client.nthreads)) == 2


def test_two_calls_at_once(engine):
    results = {}

    def call(name):
        results[name] = list(engine.map(slowly, range(20)))

    threads = [threading.Thread(target=call, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(results.values()) == [[n * n for n in range(20)]] * 3


def test_the_first_failure_is_raised_after_the_results_before_it(engine):
    results = engine.map(reciprocal, range(20))
    assert [next(results) for _ in range(5)] == [1 // (5 - n) for n in range(5)]
    with pytest.raises(ZeroDivisionError) as failed:
        next(results)
    assert "in a worker process" in failed.value.__notes__[0]
    assert list(engine.map(square, range(3))) == [0, 1, 4]


def test_errors_come_as_they_are(engine):
    with pytest.raises(InputError, match="file:1: number 1"):
        list(engine.map(bad_input, range(1, 4)))
    with pytest.raises(KernelError, match="TwoPartError: 0 and more"):
        list(engine.map(two_parts, range(3)))
    with pytest.raises(TypeError, match="must be a function of a module"):
        engine.map(lambda block: block, range(3))


def test_a_block_that_cannot_be_drawn_fails_in_its_turn(engine):
    def blocks():
        yield from range(6)
        raise InputError("no more", "file", 7)

    found = []
    with pytest.raises(InputError, match="file:7: no more"):
        for result in engine.map(square, blocks()):
            found.append(result)
    assert found == [n * n for n in range(6)]


def test_a_result_does_not_wait_for_blocks_that_come_later(engine):
    reading, writing = os.pipe()
    source = os.fdopen(reading, "rb", buffering=0)

    class Lines:
        def fileno(self):
            return reading

        def ready(self):
            import select

            return bool(select.select([reading], [], [], 0)[0])

    def blocks():
        while byte := source.read(1):
            yield byte[0]

    with source:
        os.write(writing, b"\x03")
        results = engine.map(square, blocks(), Lines())
        assert next(results) == 9
        os.write(writing, b"\x04")
        assert next(results) == 16
        os.close(writing)
        assert list(results) == []


@pytest.mark.usefixtures("terminal")
def test_in_processes_gives_the_cluster_that_was_joined(shared, capsys):
    with on_cluster(shared.address) as place:
        assert place.scheduler == shared.address
        assert "without TLS" in capsys.readouterr().err
        with in_processes(1) as engine:
            assert isinstance(engine, Cluster)
            assert list(engine.map(square, range(9))) == [n * n for n in range(9)]
        with in_processes(1, {"OMP_NUM_THREADS": "1"}) as engine:
            assert not isinstance(engine, Cluster)
    with on_cluster(None) as place, in_processes(1) as engine:
        assert place is None and isinstance(engine, Serial)


def test_another_version_of_lscfg_is_refused(engine, monkeypatch):
    monkeypatch.setattr(cluster_call, "__version__", "0.0.0")
    with pytest.raises(InputError, match=rf"has lscfg {lscfg.__version__}, not 0.0.0; install the same everywhere"):
        list(engine.map(square, range(3)))


def test_a_full_disk_of_all_workers_is_an_error(engine):
    with pytest.raises(OSError, match="No space left"):
        list(engine.map(disk_full, range(3)))


# ---- faults ----


def test_a_killed_worker_changes_nothing(tmp_path):
    with real_cluster(tmp_path, 3) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        until_joined(engine, 3)
        timer = later(0.3, cluster.workers[1].kill)
        assert list(engine.map(slowly, range(60))) == [n * n for n in range(60)]
        timer.join()
        assert cluster.workers[1].wait() == -signal.SIGKILL


def test_a_block_that_kills_its_workers_is_named(tmp_path):
    with real_cluster(tmp_path, 6) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        until_joined(engine, 6)
        with pytest.raises(WorkerError, match="each worker that had the block in hand died") as failed:
            list(engine.map(die, range(6, 10)))
        assert failed.value.block in range(4)


@pytest.mark.usefixtures("terminal")
def test_the_scheduler_is_restarted(tmp_path, capsys):
    with real_cluster(tmp_path) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        until_joined(engine, 2)

        def restart():
            cluster.kill_scheduler()
            cluster.start(1)

        timer = later(0.3, restart)
        assert list(engine.map(slowly, range(40))) == [n * n for n in range(40)]
        timer.join()
        assert "the scheduler is lost, or its workers are; trying again" in capsys.readouterr().err


def test_a_scheduler_that_stays_away_is_one_line(tmp_path):
    with real_cluster(tmp_path) as cluster, impatient(cluster) as engine:
        timer = later(0.3, cluster.kill_scheduler)
        with pytest.raises(InputError, match=r"no scheduler answers within 1 s; start it, and run again") as failed:
            list(engine.map(slowly, range(400)))
        timer.join()
        assert "\n" not in str(failed.value)


def test_workers_that_stay_away_are_one_line(tmp_path):
    with real_cluster(tmp_path) as cluster, impatient(cluster) as engine:

        def kill():
            for worker in cluster.workers:
                worker.kill()

        timer = later(0.3, kill)
        with pytest.raises(
            InputError, match=r"the scheduler has no workers within 1 s; start some, and run again"
        ) as failed:
            list(engine.map(slowly, range(400)))
        timer.join()
        assert "\n" not in str(failed.value)


def test_workers_that_come_late_are_taken(tmp_path):
    with real_cluster(tmp_path, 1) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        timer = later(0.3, lambda: (cluster.add(), cluster.workers[0].kill()))
        assert list(engine.map(slowly, range(60))) == [n * n for n in range(60)]
        timer.join()


def test_a_slow_worker_is_not_waited_for(tmp_path, monkeypatch):
    """Dask takes the blocks of a worker that gives no sign of life for so long."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "1s")
    with real_cluster(tmp_path) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        until_joined(engine, 2)
        timer = later(0.3, lambda: cluster.workers[0].send_signal(signal.SIGSTOP))
        assert list(engine.map(slowly, range(24))) == [n * n for n in range(24)]  # it never comes back
        timer.join()


@pytest.mark.usefixtures("terminal")
def test_a_full_disk_on_one_worker(tmp_path, capsys):
    with real_cluster(tmp_path, 1) as cluster, Cluster(ClusterAddress(cluster.address)) as engine:
        cluster.add(DISK_IS_FULL="1")
        until_joined(engine, 2)
        assert list(engine.map(disk_full_where_told, range(40))) == [n * n for n in range(40)]
        assert "is full; its blocks go to others" in capsys.readouterr().err


@pytest.mark.parametrize("cut", ["silent", "broken"])
def test_a_network_that_is_cut_for_a_while(tmp_path, cut):
    door = free_port()
    cluster = RealCluster(tmp_path, through=door)
    with relay(door, cluster.port) as network:
        try:
            cluster.start(2)
            with Cluster(ClusterAddress(cluster.address)) as engine:
                until_joined(engine, 2)
                again = []

                def fault():
                    if cut == "silent":
                        stop_for(network, 2)
                        return
                    network.kill()
                    network.wait()
                    again.append(relay(door, cluster.port))
                    again[0].__enter__()
                    cluster.add()

                timer = later(0.3, fault)
                assert list(engine.map(slowly, range(40))) == [n * n for n in range(40)]
                timer.join()
        finally:
            cluster.end()
            for other in again:
                other.__exit__(None, None, None)


# ---- who may come in ----


def listening(pid):
    """The addresses that a process, and all below it, listen on."""
    import psutil

    every = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    found = set()
    for one in every:
        for held in one.net_connections("inet"):
            if held.status == psutil.CONN_LISTEN:
                found.add((held.laddr.ip, held.laddr.port))
    return found


TLS_ALERT = b"\x15"

LOCAL = """
from work import square
from lscfg.parallel.choose import on_cluster
from lscfg.parallel.choose import in_processes, on_cluster, read_cluster
if __name__ == "__main__":
    with on_cluster("local:2") as place, in_processes(1) as engine:
        assert list(engine.map(square, range(20))) == [n * n for n in range(20)]
        print(place.scheduler, place, flush=True)
        input()
"""


def test_local_workers_listen_on_this_machine_only_and_behind_tls(tmp_path):
    (tmp_path / "local.py").write_text(LOCAL)
    words = [sys.executable, str(tmp_path / "local.py")]
    with subprocess.Popen(
        words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        address, shown = program.stdout.readline().split(" ", 1)
        assert address.startswith("tls://127.0.0.1:") and "PRIVATE" not in shown
        places = listening(program.pid)
        assert places and {ip for ip, _ in places} == {"127.0.0.1"}
        with pytest.raises(InputError, match="no scheduler answers within 1 s"):
            Cluster(ClusterAddress(address.replace("tls", "tcp"), patience=1))
        for _, port in places:  # none of them answers a client without a certificate, or serves a page
            with socket.create_connection(("127.0.0.1", port), timeout=5) as guest:
                guest.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                answer = TLS_ALERT
                with suppress(ConnectionResetError):
                    answer = guest.recv(100)
                assert answer.startswith((TLS_ALERT, b"HTTP/1.1 404 ")), answer
        program.communicate("\n")
        assert program.returncode == 0


def test_a_cluster_with_credentials(tmp_path):
    from distributed import Security

    made = Security.temporary()
    names = {"tls-ca": made.tls_ca_file, "tls-cert": made.tls_client_cert, "tls-key": made.tls_client_key}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    port = free_port()
    tls = ["--tls-ca-file", "tls-ca", "--tls-cert", "tls-cert", "--tls-key", "tls-key", "--protocol", "tls"]
    base = ["--host", "127.0.0.1", "--no-dashboard"]
    address = f"tls://127.0.0.1:{port}"
    orders = [["dask_scheduler", "--port", str(port), *base], ["dask_worker", address, "--no-nanny", *base]]
    programs = []
    try:
        for order in orders:
            words = [sys.executable, "-m", f"distributed.cli.{order[0]}", *order[1:], *tls]
            programs.append(subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL))
        lines = [f"address: {address}", *(f"{name}: {name}" for name in names), "patience: 30"]
        (tmp_path / "place.yaml").write_text("\n".join(lines))
        with on_cluster(str(tmp_path / "place.yaml")), in_processes(1) as engine:
            assert list(engine.map(square, range(20))) == [n * n for n in range(20)]
        with pytest.raises(InputError, match="no scheduler answers"):
            Cluster(ClusterAddress(address.replace("tls", "tcp"), patience=1))
    finally:
        for program in programs:
            program.kill()
            program.wait()


# ---- the value of --cluster ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("here", "'here' is not the address of a cluster; give tcp://HOST:PORT"),
        ("local:0", "local:0: the number of local workers must be 1 to 1024"),
        ("local:two", "must be 1 to 1024"),
        ("local:", "must be 1 to 1024"),
        ("local:²", "must be 1 to 1024"),
        ("tcp://host", "not the address of a cluster"),
        ("tls://host:8786", "TLS needs tls-ca, tls-cert, tls-key"),
        ("no.yaml", "no.yaml: cannot read"),
    ],
)
def test_what_is_no_cluster(text, message):
    with pytest.raises(InputError, match=message):
        read_cluster(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected lines KEY: VALUE"),
        ("a: [", "2: not YAML|1: not YAML"),
        ("adress: tcp://h:1", "unknown key 'adress' .did you mean address"),
        ("patience: 3", "needs one of address, local and scheduler-file"),
        ("address: tcp://h:1\nlocal: 2", "needs one of"),
        ("address: nonsense", "must be tcp://HOST:PORT"),
        ("local: 2\npatience: -1", "patience must be seconds"),
        ("local: 2\npatience: yes", "patience must be seconds"),
        ("address: tls://h:1\ntls-ca: none", "names .*none, which is not a file"),
        ("address: tls://h:1\ntls-ca: p.yaml", "TLS needs"),
        ("address: tcp://h:1\ntls-ca: p.yaml\ntls-cert: p.yaml\ntls-key: p.yaml", "tcp:// is without TLS"),
        ("local: 1\ntls-ca: p.yaml", "leave out the keys of TLS"),
    ],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_cluster(str(tmp_path / "p.yaml"))


def test_places(tmp_path):
    assert read_cluster("local:3") == ClusterAddress(local=3)
    assert read_cluster("tcp://host:8786") == ClusterAddress("tcp://host:8786")
    (tmp_path / "s.json").write_text('{"address": "tcp://n1:4"}')
    (tmp_path / "p.yaml").write_text("scheduler-file: s.json\npatience: 5")
    place = read_cluster(str(tmp_path / "p.yaml"))
    assert place.find() == "tcp://n1:4" and place.patience == 5
