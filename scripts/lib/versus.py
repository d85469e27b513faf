"""What the scripts that compare dbload with its peers share: servers, programs, and fair pairs.

A tool's run is a `Case` and a number of transactions; it gives `Figures`. CPU and context switches are
those of the whole process, from start to exit, divided by the transactions: a fixed number of them,
not a duration, because dbload warms up before a timed run and pgbench counts its connecting time
as run time.
"""

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass(frozen=True)
class Case:
    """What both tools do."""

    workload: str  # as dbload calls it
    clients: int
    protocol: str = "prepared"  # or simple, extended
    transport: str = "tcp"  # or socket

    def __str__(self):
        return f"{self.workload} {self.protocol} {self.transport} {self.clients}"


@dataclasses.dataclass
class Figures:
    """What a run came to; latencies in ms where they were asked for."""

    cpu_us: float  # per transaction
    switches: float  # per transaction, of all kinds
    tps: float
    p50_ms: float | None = None
    p99_ms: float | None = None


@dataclasses.dataclass
class Ended:
    """A process that has ended."""

    out: str
    cpu_s: float
    switches: int

    def figures(self, transactions, tps, p50_ms=None, p99_ms=None):
        return Figures(self.cpu_s * 1e6 / transactions, self.switches / transactions, tps,
                       p50_ms, p99_ms)


class Workplace:
    """A temporary folder in which processes run."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="dbload-versus."))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def run(self, command):
        """Runs a command to its end; the script ends when it fails."""
        with open(self.path / "out", "w+") as out, open(self.path / "err", "w+") as err:
            process = subprocess.Popen(list(map(str, command)), cwd=self.path, text=True,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if process.returncode != 0:
                sys.exit(f"{' '.join(map(str, command))}\nended with {process.returncode}:\n"
                         f"{out.read()}{err.read()}")
            return Ended(out.read(), usage.ru_utime + usage.ru_stime,
                         usage.ru_nvcsw + usage.ru_nivcsw)

    def calls(self, command):
        """System calls of a command, threads included."""
        counts = self.path / "calls"
        self.run(["strace", "-f", "-c", "-o", counts, *command])
        total = counts.read_text().splitlines()[-1].split()
        return int(total[3])  # after share, seconds, and microseconds a call


class Server:
    """A throwaway server."""

    def __init__(self, name):
        start = [TOP / "scripts/servers", "start", name]
        inherited = {key: value for key, value in os.environ.items() if key != "DBLOAD_SERVERS_DIR"}
        text = subprocess.run(start, stdout=subprocess.PIPE, text=True, check=True, env=inherited)
        self.settings = dict(re.findall(r"(\w+)='([^']*)'", text.stdout))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop = [TOP / "scripts/servers", "stop", self.settings["DBLOAD_SERVERS_DIR"]]
        subprocess.run(stop, check=True)


@functools.cache
def program():
    """The dbload that DBLOAD names; without it the release build of this source tree."""
    return os.environ.get("DBLOAD") or release("bin", "dbload")


def release(kind, name):
    """Builds a release program of this source tree, a `bin` or a `bench`; where it lies."""
    build = ["cargo", "build", "--release", "--locked", "-q", "--message-format", "json",
             f"--{kind}", name]
    messages = subprocess.run(build, cwd=TOP, check=True, stdout=subprocess.PIPE, text=True).stdout
    made = [json.loads(line) for line in messages.splitlines() if line.startswith("{")]
    (program,) = {message["executable"] for message in made
                  if message.get("executable") and message["target"]["name"] == name}
    return pathlib.Path(program)


def spread(values, digits=2):
    """Median, smallest and largest."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


def in_turn(pairs, ours, theirs):
    """Runs both in turn, the order of every second pair turned around; both lists of results."""
    first, second = [], []
    for pair in range(pairs):
        if pair % 2 == 0:
            second.append(theirs())
            first.append(ours())
        else:
            first.append(ours())
            second.append(theirs())
    return first, second


class Dbload:
    """This project's."""

    name = "dbload"

    def __init__(self, place, program, url, socket_url=None):
        self.place, self.program = place, program
        self.urls = {"tcp": url, "socket": socket_url}

    def command(self, case, each):
        return [self.program, "run", "--target", self.urls[case.transport],
                "--protocol", case.protocol, "--workload", case.workload,
                "--clients", case.clients, "--workers", 1, "--transactions", each]

    def run(self, case, each):
        results = self.place.path / "dbload-results"
        shutil.rmtree(results, ignore_errors=True)
        ended = self.place.run(self.command(case, each))
        (summary,) = results.glob("*/summary.json")
        (run,) = json.loads(summary.read_text())["runs"]
        check_count(self.name, run["transactions"] + run["failed"]["total"], case.clients * each)
        latency = run["latency_ms"]
        return ended.figures(run["transactions"], run["tps"], latency["p50"], latency["p99"])


class Pgbench:
    """PostgreSQL's own."""

    name = "pgbench"

    def __init__(self, place, program, url, socket_url):
        self.place, self.program = place, program
        self.urls = {"tcp": url, "socket": socket_url}

    def command(self, case, each):
        return [self.program, "-n", "-M", case.protocol, "-b", case.workload, "-c", case.clients,
                "-j", 1, "-t", each, self.urls[case.transport]]

    def run(self, case, each):
        ended = self.place.run(self.command(case, each))
        done = int(re.search(r"actually processed: (\d+)/", ended.out).group(1))
        check_count(self.name, done, case.clients * each)
        return ended.figures(done, float(re.search(r"^tps = ([\d.]+)", ended.out, re.M).group(1)))

    def latencies(self, case, each):
        """Figures with percentiles, for which it writes a line for every transaction."""
        for log in self.place.path.glob("log.*"):
            log.unlink()
        figures = self.place.run([*self.command(case, each)[:-1], "--log", "--log-prefix", "log",
                                  self.urls[case.transport]])
        times = sorted(int(line.split()[2]) / 1000
                       for log in self.place.path.glob("log.*") for line in open(log))
        return figures.figures(len(times), 0.0, at_rank(times, 0.5), at_rank(times, 0.99))


class Sysbench:
    """sysbench's tests that go by the same statements."""

    name = "sysbench"
    scripts = {"point-select": "oltp_point_select", "update-index": "oltp_update_index",
               "write-only": "oltp_write_only", "read-write": "oltp_read_write"}

    def __init__(self, place, url, rows):
        self.place, self.rows = place, rows
        parts = urllib.parse.urlsplit(url)
        driver = "pgsql" if parts.scheme.startswith("postgres") else "mysql"
        values = {"host": parts.hostname, "port": parts.port, "user": parts.username,
                  "password": parts.password, "db": parts.path.lstrip("/")}
        self.login = [f"--db-driver={driver}"]
        self.login += [f"--{driver}-{key}={value}" for key, value in values.items() if value]
        # Duplicate keys are ignored on PostgreSQL anyway; on MySQL they would end sysbench.
        if driver == "mysql":
            self.login.append("--mysql-ignore-errors=1213,1020,1205,1062")

    def prepare(self, rows):
        return ["sysbench", *self.login, "--tables=1", f"--table-size={rows}", "oltp_read_write",
                "prepare"]

    def command(self, case, each):
        return ["sysbench", *self.login, "--tables=1", f"--table-size={self.rows}",
                f"--threads={case.clients}", f"--events={case.clients * each}", "--time=0",
                "--rand-type=uniform", "--histogram", self.scripts[case.workload], "run"]

    def run(self, case, each):
        ended = self.place.run(self.command(case, each))
        done, tps = re.search(r"transactions:\s+(\d+)\s+\(([\d.]+) per sec", ended.out).groups()
        if int(done) < case.clients * each:
            check_count(self.name, int(done), case.clients * each)
        # Its histogram: the upper end of a bucket in ms, a bar, the events.
        buckets = re.findall(r"^ +([\d.]+) \|\**\s+(\d+)$", ended.out, re.M)
        times = [(float(ms), int(count)) for ms, count in buckets]
        return ended.figures(int(done), float(tps), in_buckets(times, 0.5), in_buckets(times, 0.99))

    latencies = run


class Floor:
    """Sends and receives, nothing else."""

    name = "floor"

    def __init__(self, place, program, url, size):
        self.place, self.program, self.url, self.size = place, program, url, size

    def command(self, case, each):
        return [self.program, "--target", self.url, "--workload", case.workload, "--size", self.size,
                "--clients", case.clients, "--transactions", case.clients * each]

    def run(self, case, each):
        ended = self.place.run(self.command(case, each))
        tps = float(re.search(r"tps = ([\d.]+)", ended.out).group(1))
        return ended.figures(case.clients * each, tps)


def at_rank(times, share):
    return times[min(len(times) - 1, int(share * len(times)))]


def in_buckets(buckets, share):
    wanted = share * sum(count for _, count in buckets)
    for ms, count in buckets:
        wanted -= count
        if wanted <= 0:
            return ms
    return None


def check_count(tool, done, asked):
    if done != asked:
        sys.exit(f"{tool} made {done} transactions of {asked}: nothing can be compared")
