"""RocksDB's db_bench, as in TOS'22 Figures 9 and 10: reads while another thread writes or merges."""

import re

import drive
from drives import TOS

KEY, VALUE = 20, 400
# The longest read of a lookup, bytes: a block of 4 KiB that does not begin at a sector. Compaction reads more at once.
LOOKUP = 8192
# What the other thread writes at most, bytes a second: so all drives have the same work.
WRITES = 10_000_000


def db_bench(at, limit, keys, *more):
    options = [
        f"--db={at}/db", f"--num={keys}", f"--key_size={KEY}", f"--value_size={VALUE}", "--compression_type=none",
        "--use_direct_reads=true", "--use_direct_io_for_flush_and_compaction=true", "--merge_operator=put",
        "--histogram=true", "--write_buffer_size=16777216", "--target_file_size_base=16777216",
    ]
    command = drive.first("client") + ["db_bench", *options, *more]
    return drive.run(*command, preexec_fn=limit.enter)


def read_histogram(text, bench):
    """Operations a second, and the percentiles of reads in ns."""
    line = re.search(rf"^{bench}\s*:\s*[\d.]+ micros/op (\d+) ops/sec", text, re.M)
    out = {"ops": int(line.group(1))}
    after = text[line.start():]
    found = re.search(r"Percentiles: (.*)", after)
    for name, us in re.findall(r"P([\d.]+): ([\d.]+)", found.group(1)):
        out[f"p{name}"] = round(float(us) * 1000)
    mean = re.search(r"Average: ([\d.]+)", after)
    out["mean"] = round(float(mean.group(1)) * 1000)
    return out


def work(tailcut, size, results):
    drive.need("db_bench")
    drive.need_drive()
    keys, seconds = size.pick(60_000, 500_000), size.pick(1, 6)
    threads = size.pick([4], [1, 4, 16, 32])
    schemes = size.pick(["rail"], ["pblk", "rail", "rail-hc"])
    for scheme in schemes:
        with drive.Limit(2048) as limit, drive.Drive(tailcut, TOS.args(scheme), size.pick(512, 3072), each=True) as d:
            load = db_bench(d.path("files"), limit, keys, "--benchmarks=fillrandom,waitforcompaction")
            rate = re.search(r"fillrandom\s*:.*?([\d.]+) MB/s", load)
            measured = []
            for bench in size.pick(["readwhilewriting"], ["readwhilewriting", "readwhilemerging"]):
                for count in threads:
                    begun = d.measure()
                    text = db_bench(
                        d.path("files"), limit, keys, f"--benchmarks={bench}", "--use_existing_db=true", f"--threads={count}",
                        f"--duration={seconds}", f"--benchmark_write_rate_limit={WRITES}")
                    last = {
                        "application": "rocksdb", "case": bench, "threads": count, "device": TOS.name, "scheme": scheme,
                        "keys": keys, "load_mb_s": float(rate.group(1)) if rate else None,
                        "program": read_histogram(text, bench), "drive": d.measured(),
                    }
                    measured.append((last, begun))
                    results.add(last)
            measured.append((None, 1 << 62))
            replay = d.stop()
            for (result, begun), (_, ended) in zip(measured, measured[1:]):
                result["lookups"] = d.short_reads(LOOKUP, begun, ended)
                results.write(result)
            results.replayed(last, replay, d)
