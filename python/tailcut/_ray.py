"""Runs the points of a sweep as tasks of Ray."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
import warnings
from typing import Any

from tailcut import _tailcut
from tailcut._progress import Report
from tailcut._tailcut import Error, RemoteSweep

#: Tasks given to Ray for each of its processors: enough that none waits, few enough that Ctrl-C is quick.
_AHEAD = 2


def _point(job: str, cache: str) -> tuple[bool, str]:
    """Runs a point on a worker: whether it is finished, and its result or why it failed."""
    try:
        return True, _tailcut.run_point(job, cache)
    except Error as e:
        return False, str(e)


def _own_folder() -> str:
    """The folder of a sweep that keeps no aged drives: it is the same on all machines, and each has its own."""
    return os.path.join(tempfile.gettempdir(), f"tailcut-aged-{uuid.uuid4().hex}")


def _forget(folder: str) -> None:
    """Removes the aged drives of a sweep from a machine."""
    shutil.rmtree(folder, ignore_errors=True)


def _forget_everywhere(ray: Any, folder: str) -> None:
    task = ray.remote(_forget)
    on = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    refs = [
        task.options(num_cpus=0, max_retries=0, scheduling_strategy=on(node, soft=False)).remote(folder)
        for node in nodes
    ]
    ray.wait(refs, num_returns=len(refs), timeout=10.0)


def _connected(address: str | None) -> Any:
    try:
        import ray
    except ImportError:
        raise Error("engine='ray' needs Ray: pip install ray") from None
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    return ray


def run_points(
    design: str, out: str, cache: str, *, retries: int, address: str | None, progress: Report | None
) -> tuple[bytes, int, bool]:
    """Runs what is left of a design: its table, the points read back, and whether it was stopped."""
    ray = _connected(address)
    remote = RemoteSweep(design, out)
    jobs = dict(remote.jobs())
    # Tasks of one machine share aged drives, also those that nobody keeps.
    own = _own_folder() if json.loads(cache) is False else None
    cache = cache if own is None else json.dumps(own)
    waiting = list(jobs)
    tries = dict.fromkeys(jobs, 0)
    # Ray would run a lost task again without a word, so that it is done here.
    task = ray.remote(_point).options(max_retries=0, num_cpus=1)
    most = max(1, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
    running: dict[Any, int] = {}
    done = 0
    try:
        while waiting or running:
            while waiting and len(running) < most:
                point = waiting.pop(0)
                running[task.remote(jobs[point], cache)] = point
            ready, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
            for ref in ready:
                point = running.pop(ref)
                try:
                    finished, result = ray.get(ref)
                except ray.exceptions.RayError as e:
                    why = str(e).strip().splitlines()[0]
                    tries[point] += 1
                    if tries[point] <= retries:
                        warnings.warn(f"point {point + 1}: {why}; it runs again", stacklevel=3)
                        waiting.append(point)
                        continue
                    finished, result = False, f"{tries[point]} tries: {why}"
                if finished:
                    remote.take(point, result)
                else:
                    remote.fail(point, result)
                done += 1
            if progress is not None:
                progress(done / len(jobs), f"{done} of {len(jobs)} points")
    except BaseException:
        for ref in running:
            ray.cancel(ref, force=True)
        remote.finish()
        raise
    finally:
        if own is not None:
            _forget_everywhere(ray, own)
    return remote.finish()
