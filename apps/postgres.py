"""pgbench on PostgreSQL: each scheme of a paper beside the drive without it."""

import glob
import os
import re
import subprocess

import drive
from drives import ATC, FAST, TOS

CASES = [(ATC, "baseline"), (ATC, "d-es"), (FAST, "baseline"), (FAST, "ttflash"), (TOS, "pblk"), (TOS, "rail")]
CLIENTS = 8


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not found or not os.path.exists(f"{found[-1]}/initdb"):
        raise drive.Missing("PostgreSQL is not installed")
    drive.need("pgbench", "runuser")
    return found[-1]


class Server:
    """A cluster on the drive, in a group of limited memory. It does not run as root."""

    def __init__(self, bin, d, limit):
        self.bin, self.d, self.limit = bin, d, limit
        self.data = f"{d.path('files')}/pg"
        # A socket in a folder that another user can enter.
        self.socket = f"/tmp/tailcut-pg-{os.getpid()}"

    def user(self, *command, **more):
        return drive.run("runuser", "-u", "postgres", "--", *command, cwd="/", **more)

    def __enter__(self):
        os.chmod(self.d.dir, 0o755)
        for folder in (self.data, self.socket):
            os.makedirs(folder, exist_ok=True)
            drive.run("chown", "postgres", folder)
        self.user(f"{self.bin}/initdb", "-D", self.data, "-A", "trust", "--no-sync")
        options = f"-c listen_addresses= -k {self.socket} -c shared_buffers=64MB -c max_wal_size=256MB -c checkpoint_timeout=30s"
        with open(self.d.path("postgres.out"), "w") as out:
            command = ["runuser", "-u", "postgres", "--", f"{self.bin}/postgres", "-D", self.data, *options.split()]
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd="/", preexec_fn=self.limit.enter)
        for _ in range(100):
            if subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", self.socket]).returncode == 0:
                return self
            subprocess.run(["sleep", "0.1"])
        raise RuntimeError("PostgreSQL does not start")

    def bench(self, *options):
        return self.user("pgbench", "-h", self.socket, *options, "postgres")

    def __exit__(self, *_):
        subprocess.run(["runuser", "-u", "postgres", "--", f"{self.bin}/pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop"],
                       stdout=subprocess.DEVNULL, cwd="/")
        subprocess.run(["rm", "-rf", self.socket])


def transactions(text, logs):
    """Transactions a second, and the percentiles of their latencies in ns."""
    out = {"ops": round(float(re.search(r"tps = ([\d.]+)", text).group(1)))}
    latencies = []
    for path in logs:
        with open(path) as file:
            latencies += [int(line.split()[2]) * 1000 for line in file]
        os.remove(path)
    latencies.sort()
    out["mean"] = round(sum(latencies) / max(1, len(latencies)))
    for name, share in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]:
        out[name] = latencies[min(len(latencies) - 1, int(share * len(latencies)))]
    return out


def work(tailcut, size, results):
    bin = programs()
    drive.need_drive()
    scale, seconds = size.pick(1, 40), size.pick(1, 15)
    for device, scheme in size.pick(CASES[1:2], CASES):
        with drive.Limit(size.pick(512, 256)) as limit, drive.Drive(tailcut, device.args(scheme), size.pick(512, 1400)) as d:
            with Server(bin, d, limit) as server:
                server.bench("-i", "-q", "-s", str(scale))
                d.measure()
                prefix = f"{server.socket}/log"
                text = server.bench("-c", str(CLIENTS), "-j", "2", "-T", str(seconds), "-l", f"--log-prefix={prefix}")
                result = {
                    "application": "postgres", "case": "tpcb-like", "device": device.name, "scheme": scheme, "scale": scale,
                    "clients": CLIENTS, "limit": str(limit), "program": transactions(text, glob.glob(f"{prefix}.*")),
                    "drive": d.measured(),
                }
                results.add(result)
            results.replayed(result, d.stop(), d)
