"""A client of YCSB's core workloads on SQLite: `ycsb_client.py DATABASE load|a|b|c|d|f RECORDS SECONDS NUMBER`.

Records have 1,000 bytes. Requests are zipfian (0.99) over keys that are scrambled, and over the latest keys for D, as in
YCSB. It prints the latencies in ns, by kind."""

import json
import os
import random
import sqlite3
import sys
import time

# By mix: the shares of reads, updates, inserts and read-modify-writes.
MIXES = {
    "a": (0.5, 0.5, 0.0, 0.0),
    "b": (0.95, 0.05, 0.0, 0.0),
    "c": (1.0, 0.0, 0.0, 0.0),
    "d": (0.95, 0.0, 0.05, 0.0),
    "f": (0.5, 0.0, 0.0, 0.5),
}
KINDS = ["read", "update", "insert", "read_modify_write"]
BYTES = 1000
THETA = 0.99


class Zipf:
    """Ranks from 0, by the rejection-free method of Gray et al. that YCSB uses."""

    def __init__(self, n, rand):
        self.n, self.rand = n, rand
        # The harmonic sum, with an integral beyond its first terms.
        first = min(n, 10_000)
        self.zeta = sum(i**-THETA for i in range(1, first + 1))
        if n > first:
            self.zeta += (n ** (1 - THETA) - first ** (1 - THETA)) / (1 - THETA)
        self.eta = (1 - (2 / n) ** (1 - THETA)) / (1 - (1 + 0.5**THETA) / self.zeta)

    def next(self):
        u = self.rand.random()
        uz = u * self.zeta
        if uz < 1:
            return 0
        if uz < 1 + 0.5**THETA:
            return 1
        return min(self.n - 1, int(self.n * (self.eta * u - self.eta + 1) ** (1 / (1 - THETA))))


def scrambled(rank, n):
    return (rank * 0x9E3779B97F4A7C15 % (1 << 64)) % n


def connect(path):
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA cache_size=-2000")
    return db


def load(path, records):
    db = connect(path)
    db.execute("CREATE TABLE records (key INTEGER PRIMARY KEY, value BLOB)")
    for first in range(0, records, 20_000):
        db.execute("BEGIN")
        last = min(records, first + 20_000)
        db.executemany("INSERT INTO records VALUES (?, ?)", ((key, os.urandom(BYTES)) for key in range(first, last)))
        db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def serve(path, mix, records, seconds, number):
    rand = random.Random(number)
    zipf, shares = Zipf(records, rand), MIXES[mix]
    db = connect(path)
    latencies = {}
    value = os.urandom(BYTES)
    newest, added = records, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = rand.choices(KINDS, shares)[0]
        rank = zipf.next()
        key = max(0, newest - 1 - rank) if mix == "d" else scrambled(rank, records)
        began = time.perf_counter_ns()
        if kind in ("read", "read_modify_write"):
            db.execute("SELECT value FROM records WHERE key = ?", (key,)).fetchone()
        if kind in ("update", "read_modify_write"):
            db.execute("UPDATE records SET value = ? WHERE key = ?", (value, key))
        if kind == "insert":
            # Each client has keys of its own.
            added += 1
            db.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (records + added * 64 + number, value))
            newest = records
        latencies.setdefault(kind, []).append(time.perf_counter_ns() - began)
    print(json.dumps(latencies))


if __name__ == "__main__":
    path, what, records, seconds, number = sys.argv[1:6]
    if what == "load":
        load(path, int(records))
    else:
        serve(path, what, int(records), float(seconds), int(number))
