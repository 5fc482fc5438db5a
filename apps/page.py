"""docs/applications.md, from the results."""

import glob
import json
import os
import shutil

import published

HEAD = """# Applications on the served drive

<!-- `make apps` writes this page from its results: see apps/page.py. -->

Databases and file system workloads run on drives of the papers, served in real time by `tailcut serve` ([live.md](live.md)):
a FUSE file, a loop device (direct, with requests beside each other), ext4. Each table has the latency that the program has
measured, that of the drive by its server, and how late the server's answers were. The log of each server was replayed.

```sh
make apps                 # all, up to 30 minutes; root, fio, rocksdb-tools, PostgreSQL, sqlite3
make apps SIZE=small      # a few seconds each
make apps ONLY=rocksdb    # one of rocksdb, ycsb, filebench, postgres
```

A tool that is missing skips its application with the reason. The results are JSON files in `target/apps`. A dash stands for a
percentile of the drive beyond which fewer than ten reads lie.
"""

SCALE = """## The drives are small

The dies, channels and times are those of the papers' drives; there are fewer blocks, so that a run takes minutes:

| drive | here | in the paper |
|---|---|---|
| `cnex-westlake` (TOS'22) | 40 lines of 256 MiB: `geometry.blocks=40`, `geometry.pages=64` | 1,067 lines of 2 GiB |
| `ttflash-256g` (FAST'17) | 64 blocks a plane | 4,096 blocks a plane; its emulator had 48 GB |
| `z-ssd` (ATC'19) | 64 blocks of 192 pages a plane | 683 blocks of 768 pages a plane |

Each drive is filled and overwritten to its steady state first, so collection runs from the first write. The file system takes
the first part of it: 3 GiB of `cnex-westlake`, 1.4 GiB of the others. The data sets are smaller in proportion: 500,000 keys of
420 bytes for RocksDB (TOS'22: 100 million), 400,000 records of 1 KB for YCSB's mixes (TOS'22: 1 billion), 640 MiB of files
for the personalities, scale 40 for pgbench. RocksDB and fio read past the page cache; SQLite and PostgreSQL, which cannot, run with
little memory for it where the system can limit that.
"""


def us(ns):
    if ns is None:
        return "–"
    return f"{ns / 1e6:.2f} ms" if ns >= 1e6 else f"{ns / 1e3:.0f} us"


def load(folder):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            found.append(json.load(file))
    return found


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def seen(r, program, percentile):
    """What a program has measured; with a star if lateness spoils it."""
    return us(program.get(percentile)) + ("*" if percentile in r["drive"]["spoilt"] else "")


# The fewest reads of which a percentile is shown: ten are beyond it.
FEWEST = {"p50": 20, "p99": 1_000, "p99.9": 10_000}


def tail(r, percentile, kind="read"):
    """A percentile of what the drive has measured; `None` if it had too few commands."""
    of = r["drive"][kind]
    return of.get(percentile) if of.get("count", 0) >= FEWEST[percentile] else None


def slowest(r):
    """What the drive's slowest reads waited for most."""
    shares = r["drive"].get("slow_reads", {}).get("shares")
    if not shares or tail(r, "p99") is None:
        return "–"
    cause, share = max(shares.items(), key=lambda c: c[1])
    return f"{cause} {share:.0%}"


def late(r):
    of = r["drive"]["lateness_ns"]
    return f"{us(of['p50'])}, {us(of['p99'])}"


def row(r, first, program):
    return [*first, f"{r['program']['ops']:,}", *(seen(r, program, p) for p in ("p50", "p99", "p99.9")),
            f"{r['drive']['read'].get('count', 0):,}", *(us(tail(r, p)) for p in FEWEST), slowest(r), late(r)]


HEADS = ["operations/s", "program p50", "p99", "p99.9", "drive's reads", "p50", "p99", "p99.9", "the slowest wait for", "late p50, p99"]


def ratio(results, key, base, other, of):
    """The value of one scheme over that of another, by case."""
    by = {(key(r), r["scheme"]): of(r) for r in results}
    out = {}
    for case in dict.fromkeys(key(r) for r in results):
        a, b = by.get((case, base)), by.get((case, other))
        if a and b:
            out[case] = a / b
    return out


def span(values):
    values = [v for v in values if v]
    return f"{min(values):.1f} to {max(values):.1f}" if values else "no value"


def rocksdb(results):
    key = lambda r: (r["case"], r["threads"])
    order = ["pblk", "rail", "rail-hc"]
    rows = [[*row(r, [r["case"], r["threads"], r["scheme"]], r["program"]), us(((r.get("lookups") or {}).get("p99.9")))]
            for r in sorted(results, key=lambda r: (r["case"] != "readwhilewriting", r["threads"], order.index(r["scheme"])))]
    below = lambda ratios: [v for (_, threads), v in ratios.items() if threads < 32]
    own = ratio(results, key, "pblk", "rail", lambda r: tail(r, "p99.9"))
    seen = ratio(results, key, "pblk", "rail", lambda r: r["program"].get("p99.9"))
    ops = ratio(results, key, "pblk", "rail", lambda r: r["program"]["ops"])
    hc = ratio(results, key, "rail-hc", "rail", lambda r: tail(r, "p99.9"))
    lookup = lambda r: (r.get("lookups") or {}).get("p99.9")
    short = ratio(results, key, "pblk", "rail", lookup)
    shape = table(["what", "published", "here"], [
        ["p99.9 of pblk over that of RAIL, below 32 threads", "about 4", f"{span(below(own))} (drive), {span(below(seen))} (db_bench)"],
        ["the same, reads of at most 8 KiB alone (lookups)", "", f"{span(below(short))} (drive)"],
        ["operations of pblk over those of RAIL", "about 1", span(ops.values())],
        ["p99.9 of RAIL-HC over that of RAIL", "about 1", f"{span(hc.values())} (drive)"],
    ])
    misses = []
    if below(own) and not all(2 <= v <= 8 for v in below(own)):
        alone = f"; of lookups alone (reads of at most 8 KiB) {span(below(short))} times" if below(short) else ""
        misses.append(f"below 32 threads the drive's p99.9 under pblk is {span(below(own))} times that under RAIL{alone}, and 4 was published")
    if ops and not all(0.8 <= v <= 1.25 for v in ops.values()):
        misses.append(f"operations of pblk over those of RAIL are {span(ops.values())}, and all served as many")
    if hc and not all(0.67 <= v <= 1.5 for v in hc.values()):
        misses.append(f"p99.9 of RAIL-HC is {span(hc.values())} times that of RAIL, and it followed it closely")
    text = ("db_bench of RocksDB, 20-byte keys, 400-byte values, no compression, direct I/O. One other thread writes (or merges) 10 MB/s, so "
            "that all drives have the same work; in the paper it writes as fast as it can. The drive's reads are those of lookups and, up to "
            "256 KiB each, those of compaction: where the slowest wait for `controller_wait`, they are long reads of compaction whose sectors "
            "the controller transfers one after another.\n")
    return text, misses, shape, table(["benchmark", "threads", "scheme", *HEADS, "lookups' p99.9"], rows)


def ycsb(results):
    key = lambda r: (r["case"], r["beside"])
    rows = [row(r, [r["case"], f"{r['beside']:,}", r["scheme"]], r["program"].get("read", {}))
            for r in sorted(results, key=lambda r: (r["beside"], r["case"], r["scheme"]))]
    own = ratio(results, key, "pblk", "rail", lambda r: tail(r, "p99.9"))
    part = lambda cases, beside: [v for (case, b), v in own.items() if case in cases and (b > 0) == beside]
    worse = {}
    for scheme in ["pblk", "rail"]:
        of = {key(r): tail(r, "p99.9") for r in results if r["scheme"] == scheme}
        worse[scheme] = [of[case, b] / of[case, 0] for case, b in of if b and of.get((case, 0)) and of[case, b]]
    shape = table(["what", "published", "here (drive's reads)"], [
        ["p99.9 of pblk over that of RAIL, A and F", "more than 1", span(part("AF", False))],
        ["p99.9 with 10,000 writes/s beside, over that alone: pblk", "up to 3", span(worse["pblk"])],
        ["the same: RAIL", "about 1", span(worse["rail"])],
    ])
    misses = []
    if part("AF", False) and min(part("AF", False)) <= 1.1:
        misses.append(f"alone, under A and F, p99.9 of pblk is {span(part('AF', False))} times that of RAIL; it was to be larger")
    if worse["rail"] and max(worse["rail"]) > 1.3:
        misses.append(f"RAIL's p99.9 changes by {span(worse['rail'])} with the writes beside, and was unaffected")
    if worse["pblk"] and max(worse["pblk"]) < 1.5:
        misses.append(f"pblk's p99.9 changes only by {span(worse['pblk'])} with the writes beside, and rose up to 3 times")
    limit = next((r["limit"] for r in results), "")
    text = (f"YCSB's mixes A (half updates), B (5 %), C (reads), D (5 % inserts, the latest read) and F (half read-modify-writes), zipfian 0.99, by "
            f"four clients of our own in Python on **SQLite** (write-ahead log, `synchronous=NORMAL`). It is neither MongoDB nor YCSB's own "
            f"client. They have {limit}. Beside them fio writes a file, 4 KiB at random. The program's latencies are those of reads. "
            f"Where the drive has fewer than 1,000 reads a second (A has about 1,000), RAIL opens its gate, as in the paper: reads wait "
            f"for programs then.\n")
    return text, misses, shape, table(["mix", "writes/s beside", "scheme", *HEADS], rows)


def filebench(results):
    order = ["baseline", "preemptive-gc", "ttflash"]
    key = lambda r: r["case"]
    rows = []
    for r in sorted(results, key=lambda r: (r["case"], order.index(r["scheme"]))):
        read, program = r["drive"]["read"], r["program"]
        rows.append([r["case"], r["scheme"], f"{program['ops']:,}", us(program["mean"]) + ("*" if not r["valid"] else ""), seen(r, program, "p99"), us(read.get("mean")),
                     us(tail(r, "p99")), us(tail(r, "p99.9")), slowest(r), late(r)])
    means = lambda other: ratio(results, key, other, "ttflash", lambda r: r["drive"]["read"].get("mean"))
    base, preemptive = means("baseline"), means("preemptive-gc")
    shape = table(["what", "published", "here (drive's reads)"], [
        ["mean of the base over that of ttFlash", "several times", span(base.values())],
        ["mean with preemptive collection over that of ttFlash", "above 1 where free blocks run short", span(preemptive.values())],
    ])
    misses = []
    if base and min(base.values()) < 2:
        few = ", ".join(case for case, v in base.items() if v < 2)
        misses.append(f"the base is less than twice as slow as ttFlash under {few} ({span(base.values())} in all)")
    if preemptive and min(preemptive.values()) < 1:
        faster = ", ".join(case for case, v in preemptive.items() if v < 1)
        misses.append(f"preemptive collection has a lower mean than ttFlash under {faster}")
    text = ("filebench's personalities as fio jobs ([apps/personalities](../apps/personalities)): reads and writes of the sizes and kinds that "
            "filebench makes, without its creation and deletion of files.\n")
    return text, misses, shape, table(["personality", "scheme", "operations/s", "program's reads: mean", "p99", "drive's reads: mean", "p99", "p99.9", "the slowest wait for", "late p50, p99"], rows)


def postgres(results):
    order = [("z-ssd", "baseline"), ("z-ssd", "d-es"), ("ttflash-256g", "baseline"), ("ttflash-256g", "ttflash"), ("cnex-westlake", "pblk"), ("cnex-westlake", "rail")]
    rows = [row(r, [r["device"], r["scheme"]], r["program"]) for r in sorted(results, key=lambda r: order.index((r["device"], r["scheme"])))]
    limit = next((r["limit"] for r in results), "")
    text = f"pgbench's own transactions, 8 clients, 64 MB of shared buffers, {limit}. The program's latencies are those of transactions.\n"
    return text, [], "", table(["drive", "scheme", *HEADS], rows)


PARTS = [
    ("rocksdb", "RocksDB beside writes and merges", published.ROCKSDB, rocksdb),
    ("ycsb", "YCSB's mixes, alone and beside writes", published.YCSB, ycsb),
    ("filebench", "filebench's personalities", published.FILEBENCH, filebench),
    ("postgres", "PostgreSQL", published.POSTGRES, postgres),
]


def conditions(results):
    c = results[-1]["conditions"]
    dates = sorted({r["conditions"]["date"] for r in results})
    loads = [r["conditions"]["load"] for r in results]
    exact = [r for r in results if "replay" in r]
    same = sum(r["replay"]["exact"] for r in exact)
    as_served = sum(r["replay"]["as_served"] for r in exact)
    invalid = sum(not r["valid"] for r in results)
    return f"""## Conditions

{" and ".join(dates)}: a virtual machine with {c['processors']} processors ({c['model']}), Linux {c['kernel']}, shared with other work at the
lowest priority (load {min(loads):.0f} to {max(loads):.0f}). The server ran under `{c['server'] or 'no priority'}`, the programs under `{c['client'] or 'no priority'}`.

Of {len(exact)} logs the replay gave the completions of the served drive to the nanosecond for {same}, and the same percentiles as the server for
{as_served} (those of the last case of each server). A star marks what a program has measured at a percentile at which lateness is more than a tenth of
the drive's own latency: it is not the drive's latency, and is invalid as one. Of {len(results)} results {invalid} are invalid at the
percentile that the figure is about (p99.9; the mean for the personalities). The drive's columns are right in any case, because the drive
does what is due at its own time; the comparisons with the papers use these where they say so.
"""


def name(r):
    """What the files of a result are called."""
    parts = [r["application"], r["device"], r["scheme"], r["case"], r.get("threads"), r.get("beside")]
    return "-".join(str(part) for part in parts if part is not None)


def pictures(path, folder, of):
    """The figures of the servers' last cases, copied beside the page."""
    lines = []
    for r in of:
        found = os.path.join(folder, f"{name(r)}.svg")
        if os.path.exists(found):
            figure = f"applications/{r['application']}-{r['device']}-{r['scheme']}.svg"
            copy = os.path.join(os.path.dirname(path), figure)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(found, copy)
            case = " ".join(str(part) for part in [r["case"], r.get("threads"), r.get("beside")] if part)
            lines.append(f"`{r['scheme']}` on `{r['device']}`, {case}:\n\n![Distribution of latencies]({figure})\n")
    return "\nThe distribution of the drive's latencies in the last case of each server, from its replay:\n\n" + "\n".join(lines) if lines else ""


def write(path, folder):
    results = load(folder)
    text = HEAD
    parts, misses = [], []
    for name, title, words, make in PARTS:
        of = [r for r in results if r["application"] == name]
        if not of:
            parts.append(f"## {title}\n\nPublished: {words}\n\nNot run here.\n")
            continue
        intro, missed, shape, rows = make(of)
        misses += [f"- {title}: {miss}." for miss in missed]
        parts.append(f"## {title}\n\n{intro}\nPublished: {words}\n\n{shape}\n{rows}{pictures(path, folder, of)}")
    text += "\n## What is not as published\n\n" + ("\n".join(misses) if misses else "Nothing that the tables below compare." if results else "Nothing was compared yet.") + "\n\n"
    ran = conditions(results) if results else "## Conditions\n\nNothing was run yet: `make apps` fills this page.\n"
    text += "\n".join([ran, SCALE, *parts])
    with open(path, "w") as file:
        file.write(text.rstrip() + "\n")
