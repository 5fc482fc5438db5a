"""A served drive with a file system on it, and what it has measured."""

import json
import math
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

try:
    from pyarrow import parquet
except ImportError:
    parquet = None

# Of lateness and the drive's own latency: from this share on, what a program has measured is not the drive's.
SPOILT = 0.1


class Missing(Exception):
    """A tool that an application needs is not here."""


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Missing(f"{program} is not installed")


def need_drive():
    """What a file system on the drive needs."""
    need("losetup", "mkfs.ext4", "fusermount3")
    if os.geteuid() != 0:
        raise Missing("a loop device and a mount need root")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise Missing("there is no FUSE here")


def run(*args, **more):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more).stdout


def first(priority):
    """The words before a command that give it a priority: the server's is real-time, if the system lets it."""
    if priority == "server" and shutil.which("chrt") and subprocess.run(["chrt", "-f", "10", "true"]).returncode == 0:
        return ["chrt", "-f", "10"]
    if priority == "client" and subprocess.run(["nice", "-n", "-10", "true"], stderr=subprocess.DEVNULL).returncode == 0:
        return ["nice", "-n", "-10"]
    return []


class Limit:
    """A group of processes whose memory, page cache included, is limited (cgroup v1 or v2)."""

    def __init__(self, mib):
        self.mib, self.folder = mib, None
        for root, name in [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]:
            folder = f"{root}/tailcut-apps-{os.getpid()}"
            if not os.path.exists(f"{root}/cgroup.procs"):
                continue
            try:
                os.mkdir(folder)
                with open(f"{folder}/{name}", "w") as file:
                    file.write(str(mib << 20))
                self.folder = folder
                return
            except OSError:
                if os.path.isdir(folder):
                    os.rmdir(folder)

    def enter(self):
        """For `preexec_fn`."""
        if self.folder:
            with open(f"{self.folder}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in range(50):
            if not self.folder or not os.path.isdir(self.folder):
                return
            try:
                os.rmdir(self.folder)
            except OSError:
                time.sleep(0.1)

    def __str__(self):
        return f"{self.mib} MiB of memory, page cache included" if self.folder else "no limit on the page cache"


class Drive:
    """A server, a loop device and a mounted file system. Use it in a `with`."""

    def __init__(self, tailcut, args, file_system_mib, each=False):
        # `each`: the replay keeps every request.
        self.tailcut, self.args, self.mib, self.each = tailcut, args, file_system_mib, each and parquet is not None
        self.dir = tempfile.mkdtemp(prefix="tailcut-apps-")
        self.loop = self.server = self.mounted = None
        self.log = f"{self.dir}/log"
        self.said = ""

    def path(self, name):
        return f"{self.dir}/{name}"

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        os.mkdir(self.path("fuse"))
        os.mkdir(self.path("files"))
        out = open(self.path("server.out"), "w")
        control = f"unix:{self.path('control')}"
        command = [self.tailcut, "serve", *self.args, "--listen", f"fuse:{self.path('fuse')}", "--control", control]
        self.server = subprocess.Popen(first("server") + command + ["--log", self.log], stdout=out, stderr=subprocess.STDOUT)
        self.until(lambda: "Ctrl-C" in self.output(), 300)
        file = self.path("fuse/drive")
        self.bytes = os.stat(file).st_size
        self.loop = run("losetup", "--direct-io=on", "--show", "-f", file).strip()
        size = f"{self.mib}M"
        if self.bytes < self.mib << 20:
            raise RuntimeError(f"the drive has {self.bytes >> 20} MiB, and the file system needs {self.mib}")
        run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", self.loop, size)
        run("mount", "-o", "noatime", self.loop, self.path("files"))
        self.mounted = self.path("files")
        return self

    def output(self):
        with open(self.path("server.out")) as file:
            return file.read()

    def until(self, what, seconds):
        end = time.time() + seconds
        while not what():
            if time.time() > end or self.server.poll() is not None:
                raise RuntimeError(f"the server does not start: {self.output()}")
            time.sleep(0.1)

    def ask(self, method, path, body=""):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(30)
            s.connect(self.path("control"))
            s.sendall(f"{method} {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = b""
            while chunk := s.recv(65536):
                answer += chunk
        head, _, text = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{method} {path}: {answer.decode()}")
        return text.decode()

    def measure(self):
        """Measure from now on; returns the drive's time, ns."""
        return json.loads(self.ask("POST", "/measure"))["at_ns"]

    def measured(self):
        """What the drive has measured since, and whether lateness spoils what its client has."""
        scheme = json.loads(self.ask("GET", "/summary.json"))["schemes"][0]
        late = json.loads(self.ask("GET", "/live.json"))["lateness_ns"]
        out = {"read": side(scheme["read"]), "write": side(scheme["write"]), "lateness_ns": late}
        out["slow_reads"] = causes(scheme["read"])
        spoilt = []
        for percent in ["p50", "p99", "p99.9"]:
            own = max(out[of].get(percent, 0) for of in ["read", "write"])
            if late[percent] > SPOILT * own:
                spoilt.append(percent)
        out["spoilt"] = spoilt
        return out

    def stop(self):
        """Unmount and stop in order; returns what the replay of the log says."""
        if self.mounted:
            run("umount", self.mounted)
            self.mounted = None
        if self.loop:
            run("losetup", "-d", self.loop)
            self.loop = None
        self.last = self.measured_or_none()
        self.ask("POST", "/stop")
        self.server.wait(60)
        self.server = None
        self.said = self.output()
        return self.replay()

    def measured_or_none(self):
        try:
            return self.measured()
        except (OSError, KeyError, RuntimeError):
            return None

    def replay(self):
        out = self.path("replayed")
        each = ["--requests-parquet"] if self.each else []
        text = subprocess.run(
            [self.tailcut, "run", "--replay", self.log, "--out", out, "--no-cache", *each],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        with open(f"{out}/summary.json") as file:
            scheme = json.load(file)["schemes"][0]
        return {"exact": "to the nanosecond" in text, "read": side(scheme["read"]), "write": side(scheme["write"]), "waf": scheme.get("waf")}

    def short_reads(self, most, begun, ended):
        """Count and percentiles of the replayed reads of at most `most` bytes that arrived in a time of the drive, ns; `None`
        without PyArrow."""
        if not parquet:
            return None
        path = self.path("replayed/requests.parquet")
        of = [("op", "==", "read"), ("bytes", "<=", most), ("arrived_ns", ">=", begun), ("arrived_ns", "<", ended)]
        latencies = sorted(parquet.read_table(path, columns=["latency_ns"], filters=of)["latency_ns"].to_pylist())
        out = {"count": len(latencies)}
        for name, key in KEYS.items():
            # At least ten reads lie beyond.
            if len(latencies) * (100 - float(key)) >= 1000:
                out[name] = latencies[math.ceil(len(latencies) * float(key) / 100) - 1]
        return out

    def figure(self, path):
        """The distribution of the replayed run, as a picture."""
        for kind, name in [("ccdf", path)]:
            subprocess.run([self.tailcut, "report", self.path("replayed"), "--figure", kind, "-o", name], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", self.mounted])
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop])
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)
            try:
                self.server.wait(20)
            except subprocess.TimeoutExpired:
                self.server.kill()
        subprocess.run(["fusermount3", "-uqz", self.path("fuse")], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)


KEYS = {"p50": "50.000000", "p90": "90.000000", "p99": "99.000000", "p99.9": "99.900000", "p99.99": "99.990000"}


def side(of):
    """Count, mean and percentiles in ns of a kind of command."""
    lat, out = of.get("lat_ns", {}), {"count": of.get("total_ios", 0)}
    for name, key in KEYS.items():
        if key in lat.get("percentile", {}):
            out[name] = lat["percentile"][key]
    if out["count"]:
        out["mean"], out["max"] = lat["mean"], lat["max"]
    return out


def causes(read):
    """What the slowest reads waited for: the shares of the four largest causes."""
    blame = [b for b in read.get("blame", []) if b.get("requests")]
    if not blame:
        return {}
    last = next((b for b in reversed(blame) if b["requests"] >= 10), blame[0])
    total = sum(last["causes"].values()) or 1
    largest = sorted(last["causes"].items(), key=lambda c: -c[1])[:4]
    return {"above": last["above"], "shares": {name: ns / total for name, ns in largest}}
