#!/usr/bin/env python3
"""Applications on the served drive: `apps/run.py --tailcut PROGRAM --results FOLDER [--size small|normal] [--only NAME] [--page FILE]`.

Each result is a JSON file in the folder of results. An application whose tools are missing is skipped with the reason."""

import argparse
import datetime
import json
import os
import platform
import signal
import sys
import time

import drive
import page
import personalities
import postgres
import rocksdb
import ycsb

APPLICATIONS = {"rocksdb": rocksdb.work, "ycsb": ycsb.work, "filebench": personalities.work, "postgres": postgres.work}
# Measured programs run in bursts, with a pause between, since the machine may be shared.
PAUSE = 10


class Size:
    def __init__(self, name):
        self.name, self.normal = name, name == "normal"

    def pick(self, small, normal):
        return normal if self.normal else small


class Results:
    def __init__(self, folder, size):
        self.folder, self.size, self.count = folder, size, 0
        os.makedirs(folder, exist_ok=True)

    def add(self, r):
        """Keep a result. It is invalid if the drive's answers were too late for the percentile that it is about."""
        r["size"], r["conditions"] = self.size.name, conditions()
        r["valid"] = r.get("headline", "p99.9") not in r["drive"]["spoilt"]
        self.write(r)
        self.count += 1
        late = r["drive"]["lateness_ns"]
        spoilt = f"  INVALID for the program: {', '.join(r['drive']['spoilt'])}" if r["drive"]["spoilt"] else ""
        print(f"{page.name(r)}: {r['program']['ops']} operations/s; answers late by {late['p50'] / 1e3:.0f} us (p50), "
              f"{late['p99'] / 1e3:.0f} us (p99){spoilt}", flush=True)

    def replayed(self, r, replay, d):
        """The last result of a server also has what the replay of its log says."""
        if r is None:
            return
        r["replay"] = replay
        r["replay"]["as_served"] = bool(d.last) and all(d.last[of] == replay[of] for of in ("read", "write"))
        r["serve"] = d.args
        self.write(r)
        d.figure(os.path.join(self.folder, page.name(r) + ".svg"))
        print(f"  replay of {page.name(r)}: {'the same completions, to the nanosecond' if replay['exact'] else 'OTHER COMPLETIONS'}", flush=True)

    def write(self, r):
        with open(os.path.join(self.folder, page.name(r) + ".json"), "w") as file:
            json.dump(r, file, indent=1)
            file.write("\n")


def conditions():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return {"date": datetime.date.today().isoformat(), "processors": os.cpu_count(), "model": model, "kernel": platform.release().split("-")[0],
            "load": round(os.getloadavg()[0], 1), "server": " ".join(drive.first("server")), "client": " ".join(drive.first("client"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tailcut", default="target/release/tailcut")
    parser.add_argument("--results", default="target/apps")
    parser.add_argument("--size", choices=["small", "normal"], default="normal")
    parser.add_argument("--only", choices=sorted(APPLICATIONS), action="append")
    parser.add_argument("--page", help="write the page of the results to this file")
    args = parser.parse_args()
    # Whoever ends this ends the servers and the mounts too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    size, failed = Size(args.size), []
    results = Results(args.results, size)
    names = args.only or list(APPLICATIONS)
    for number, name in enumerate(names):
        if number and size.normal:
            time.sleep(PAUSE)
        before = results.count
        try:
            APPLICATIONS[name](os.path.abspath(args.tailcut), size, results)
        except drive.Missing as why:
            print(f"skipped: {name}: {why}", flush=True)
        except Exception as error:  # The others still run.
            failed.append(name)
            print(f"FAILED: {name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            output = getattr(error, "output", None)
            if output:
                print(output[-2000:], file=sys.stderr)
        print(f"{name}: {results.count - before} results", flush=True)
    if args.page:
        page.write(args.page, args.results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
