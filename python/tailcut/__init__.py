"""Where the latency tail of an SSD comes from: the simulator Tailcut for Python.

``run`` runs schemes on a modelled drive and returns a ``Result``; ``sweep`` runs many points; ``tune`` searches values
that meet a target. ``devices``, ``schemes``,
``workloads`` and ``keys`` list what is built in, and ``config`` is the configuration of a drive. Errors are ``Error``
(a ``ValueError``) with the text that the command line prints. Latencies are in nanoseconds.
"""

from tailcut._config import Config, config, devices, keys, schemes, workloads
from tailcut._keys import Overrides
from tailcut._result import Requests, Result, Scheme
from tailcut._run import run
from tailcut._sweep import Sweep, sweep
from tailcut._tailcut import MODEL_VERSION, Error
from tailcut._tailcut import VERSION as __version__
from tailcut._tune import Tuned, tune

__all__ = [
    "MODEL_VERSION",
    "Config",
    "Error",
    "Overrides",
    "Requests",
    "Result",
    "Scheme",
    "Sweep",
    "Tuned",
    "__version__",
    "config",
    "devices",
    "keys",
    "run",
    "schemes",
    "sweep",
    "tune",
    "workloads",
]
