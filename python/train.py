"""The runs that `make wheel-pgo` takes its profile from: drives and loads of `tailcut bench`, shorter.

Prints each digest, so that the runs also compare two builds of the package.
"""

from __future__ import annotations

import tailcut as tc

READ = "randread,bs=4k,iodepth=32"
MIXED = "randrw,bs=4k,rwmixread=70,iodepth=16"
LARGE = "randread,bs=64k,iodepth=16"
#: A sixteenth of the lines of the device.
SMALL = {"geometry.blocks": 67}

#: Device, schemes, job, number of its requests, configuration.
RUNS: list[tuple[str, list[str], str, int, dict[str, object]]] = [
    ("mqsim-e", ["baseline"], READ, 1_000_000, {}),
    ("mqsim-e", ["baseline"], MIXED, 1_000_000, {}),
    ("mqsim-default", ["baseline"], MIXED, 500_000, {}),
    ("mqsim-default", ["baseline"], READ, 500_000, {}),
    ("z-ssd", ["baseline", "d-es"], MIXED, 200_000, {}),
    ("ttflash-256g", ["ttflash"], LARGE, 100_000, {}),
    ("rif-2t", ["rif"], LARGE, 200_000, {"age.retention": "6h", "age.retention_from": "6h"}),
    ("cnex-westlake", ["pblk", "rail"], READ, 300_000, SMALL),
    ("cnex-westlake", ["pblk", "rail"], MIXED, 300_000, SMALL),
]

for device, schemes, job, requests, overrides in RUNS:
    workload = f"{job},size=70%,norandommap,number_ios={requests}"
    result = tc.run(device, schemes, workload, overrides, threads=1, cache=False, progress=False)
    for scheme, digest in result.digest.items():
        print(device, scheme, job, digest, flush=True)
