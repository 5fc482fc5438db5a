"""YCSB's mixes A to D and F on SQLite, as TOS'22 Figures 11 to 13 have them on MongoDB: alone, and beside 10,000 writes a second."""

import json
import os
import subprocess
import sys

import drive
from drives import TOS

HERE = os.path.dirname(os.path.abspath(__file__))
MIXES = ["a", "b", "c", "d", "f"]
CLIENTS = 4
BESIDE = 10_000


def beside(d, seconds):
    """A file that fio writes at a steady rate."""
    return [
        *drive.first("client"), "fio", "--name=beside", f"--filename={d.path('files')}/beside", "--rw=randwrite", "--bs=4k",
        "--ioengine=libaio", "--iodepth=64", "--direct=1", "--size=512m", f"--rate_iops={BESIDE}", "--time_based",
        f"--runtime={seconds}", "--output-format=json",
    ]


def percentiles(latencies):
    latencies.sort()
    out = {"count": len(latencies), "mean": round(sum(latencies) / max(1, len(latencies)))}
    for name, share in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]:
        if latencies:
            out[name] = latencies[min(len(latencies) - 1, int(share * len(latencies)))]
    return out


def forget(path):
    """Let the page cache forget a file: each mix begins with as little of it."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def clients(d, limit, mix, records, seconds):
    command = drive.first("client") + [sys.executable, f"{HERE}/ycsb_client.py", f"{d.path('files')}/db", mix, str(records), str(seconds)]
    each = [subprocess.Popen(command + [str(n)], stdout=subprocess.PIPE, text=True, preexec_fn=limit.enter) for n in range(CLIENTS)]
    all = {}
    for process in each:
        text, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"a client of mix {mix} has failed")
        for kind, latencies in json.loads(text).items():
            all.setdefault(kind, []).extend(latencies)
    count = sum(len(latencies) for latencies in all.values())
    return {"ops": round(count / seconds), **{kind: percentiles(latencies) for kind, latencies in all.items()}}


def work(tailcut, size, results):
    drive.need("fio")
    drive.need_drive()
    records, seconds = size.pick(20_000, 400_000), size.pick(1, 6)
    for scheme in size.pick(["rail"], ["pblk", "rail"]):
        with drive.Limit(size.pick(512, 192)) as limit, drive.Drive(tailcut, TOS.args(scheme), size.pick(512, 3072)) as d:
            drive.run(sys.executable, f"{HERE}/ycsb_client.py", f"{d.path('files')}/db", "load", str(records), "0", "0",
                      preexec_fn=limit.enter)
            if size.normal:
                drive.run("fio", "--name=lay", f"--filename={d.path('files')}/beside", "--rw=write", "--bs=256k", "--direct=1",
                          "--ioengine=libaio", "--iodepth=8", "--size=512m")
            last = None
            for mix in size.pick(["a"], MIXES):
                for writes in size.pick([0], [0, BESIDE]):
                    other = subprocess.Popen(beside(d, seconds + 1), stdout=subprocess.DEVNULL) if writes else None
                    forget(f"{d.path('files')}/db")
                    d.measure()
                    program = clients(d, limit, mix, records, seconds)
                    measured = d.measured()
                    if other:
                        other.wait()
                    last = {
                        "application": "ycsb", "case": mix.upper(), "beside": writes, "device": TOS.name, "scheme": scheme,
                        "records": records, "clients": CLIENTS, "limit": str(limit), "program": program, "drive": measured,
                    }
                    results.add(last)
            results.replayed(last, d.stop(), d)
