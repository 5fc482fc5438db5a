"""filebench's personalities as fio jobs, as in FAST'17 Figure 8."""

import json
import os

import drive
from drives import FAST

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["fileserver", "varmail", "webserver", "webproxy", "oltp", "videoserver"]


def fio(d, seconds, files, *more):
    text = drive.run(*drive.first("client"), "fio", *more, "--output-format=json",
                     env={**os.environ, "FILES": d.path("files"), "SECONDS": str(seconds), "COUNT": str(files), "TOTAL": f"{4 * files}m"})
    return json.loads(text[text.index("{"):])["jobs"]


def reads(jobs):
    """The read latencies of all jobs of a personality, as fio has them: the mean over all reads, and the largest percentiles."""
    sides = [job["read"] for job in jobs if job["read"]["total_ios"]]
    count = sum(side["total_ios"] for side in sides)
    out = {"ops": round(sum(job[of]["iops"] for job in jobs for of in ("read", "write"))), "count": count}
    out["mean"] = round(sum(side["clat_ns"]["mean"] * side["total_ios"] for side in sides) / max(1, count))
    for name, key in [("p50", "50.000000"), ("p99", "99.000000"), ("p99.9", "99.900000")]:
        out[name] = max((side["clat_ns"]["percentile"][key] for side in sides), default=0)
    return out


def work(tailcut, size, results):
    drive.need("fio")
    drive.need_drive()
    seconds, files = size.pick(1, 8), size.pick(8, 160)
    for scheme in size.pick(["ttflash"], ["baseline", "preemptive-gc", "ttflash"]):
        with drive.Drive(tailcut, FAST.args(scheme), size.pick(256, 1400)) as d:
            fio(d, seconds, files, f"{HERE}/personalities/files.fio")
            last = None
            for name in size.pick(["varmail"], NAMES):
                d.measure()
                jobs = fio(d, seconds, files, f"{HERE}/personalities/{name}.fio")
                last = {
                    "application": "filebench", "case": name, "device": FAST.name, "scheme": scheme, "headline": "p50",
                    "program": reads(jobs), "drive": d.measured(),
                }
                results.add(last)
            results.replayed(last, d.stop(), d)
