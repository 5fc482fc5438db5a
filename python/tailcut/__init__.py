"""Where the latency tail of an SSD comes from: the simulator Tailcut for Python.

``run`` runs schemes on a modelled drive and returns a ``Result``; ``sweep`` runs many points; ``tune`` searches values
that meet a target, and ``fit`` those of a real drive. ``devices``, ``schemes``,
``workloads`` and ``keys`` list what is built in, and ``config`` is the configuration of a drive. Errors are ``Error``
(a ``ValueError``) with the text that the command line prints. Latencies are in nanoseconds.
"""

from tailcut._config import Config, config, devices, keys, schemes, workloads
from tailcut._fit import PARAMETERS, Fit, Parameter, fit
from tailcut._keys import Overrides
from tailcut._policies import Policy, ReadPath, Schedule, Victim
from tailcut._result import Requests, Result, Scheme
from tailcut._run import run
from tailcut._sweep import Sweep, sweep
from tailcut._tailcut import MODEL_VERSION, OCCUPANTS, BlockedView, Candidate, Error, QueueView, VictimView
from tailcut._tailcut import VERSION as __version__
from tailcut._tune import Tuned, tune

__all__ = [
    "MODEL_VERSION",
    "OCCUPANTS",
    "PARAMETERS",
    "BlockedView",
    "Candidate",
    "Config",
    "Error",
    "Fit",
    "Overrides",
    "Parameter",
    "Policy",
    "QueueView",
    "ReadPath",
    "Requests",
    "Result",
    "Schedule",
    "Scheme",
    "Sweep",
    "Tuned",
    "Victim",
    "VictimView",
    "__version__",
    "config",
    "devices",
    "fit",
    "keys",
    "run",
    "schemes",
    "sweep",
    "tune",
    "workloads",
]
