"""Policies in Python, for prototypes: functions that a drive asks in the place of a policy of the Rust side."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Union

from tailcut._arguments import _quoted
from tailcut._tailcut import OCCUPANTS, BlockedView, Candidate, Error, QueueView, VictimView


class Victim:
    """Which extent a collection empties. A function of the view is such a policy too, with the ``rule`` of this class."""

    #: What the choice depends on: the fewest valid units (``"fewest"``), those of so many extents drawn at random (a
    #: number), or the time since an extent was closed (``"age"``). It decides where the ageing of a large drive begins,
    #: and when a drive counts as steady.
    rule: str | int = "fewest"

    def pick(self, view: VictimView) -> Candidate | int:
        """The extent to collect: one of ``view.candidates``, or its index."""
        raise NotImplementedError


class Schedule:
    """Which queued operation a die executes next. A function of the view is such a policy too, with the other answers
    of this class. These are fixed for the life of a drive. Kinds of work are the names in ``tailcut.OCCUPANTS``.
    """

    #: Whether no other work begins on the dies of a channel while a host read waits for one of them.
    reads_close_channel: bool = False
    #: Whether host programs of a die with a collection under way begin only while programs of a collection wait, and
    #: erases only while none of its collections moves data.
    collections_hold_programs: bool = False

    def next(self, view: QueueView) -> str:
        """The kind of work, of ``view.waiting``, whose first operation is served now. What may interrupt it must not wait."""
        raise NotImplementedError

    def first_on_channel(self, occupant: str) -> bool:
        """Whether this kind of work goes first on the channel too."""
        return False

    def interrupters(self, holder: str) -> Collection[str]:
        """The kinds of work that may interrupt this kind, where ``suspend_program`` and ``suspend_erase`` allow it. They are
        host operations, and there are none for reads.
        """
        return ()


class ReadPath:
    """What a host read does when a collection keeps its plane busy. A function of the view is such a policy too."""

    def rebuild(self, view: BlockedView) -> bool:
        """Whether to read the rest of the stripe instead of waiting for the plane."""
        raise NotImplementedError


#: A policy: a function, an object, or a class of which each drive gets an object of its own.
Policy = Union[Callable[[Any], Any], Victim, Schedule, ReadPath, type]

_FAMILIES: dict[str, tuple[str, type, str]] = {
    "victim": ("policy.gc_victim", Victim, "pick"),
    "schedule": ("policy.schedule", Schedule, "next"),
    "read_path": ("policy.read_path", ReadPath, "rebuild"),
}


def given(policies: Mapping[str, Policy] | None) -> tuple[list[str], list[tuple[str, str, Callable[[], Any]]]]:
    """The settings that name the policies, and the policies as the extension takes them."""
    sets, out = [], []
    for family, policy in (policies or {}).items():
        if family not in _FAMILIES:
            raise Error(f"policies `{family}`: it must be one of {', '.join(_FAMILIES)}")
        key, base, method = _FAMILIES[family]
        name = str(getattr(policy, "__name__", type(policy).__name__))
        sets.append(f"{key}={{ external = {{ name = {_quoted(name)} }} }}")
        out.append((family, name, _maker(family, policy, base, method)))
    return sets, out


def _maker(family: str, policy: Any, base: type, method: str) -> Callable[[], Any]:
    """What makes the function and its fixed answers for a drive."""
    if isinstance(policy, type) and issubclass(policy, base):

        def made() -> Any:
            of = policy()
            return getattr(of, method), _fixed(of)

        return made
    if isinstance(policy, base):
        return lambda: (getattr(policy, method), _fixed(policy))
    if isinstance(policy, type) or not callable(policy):
        is_what = f"the class {policy.__name__}" if isinstance(policy, type) else type(policy).__name__
        raise Error(f"policies `{family}`: a function of the view, or a tailcut.{base.__name__}, not {is_what}")
    return lambda: (policy, _fixed(base()))


def _fixed(policy: Any) -> Any:
    """The answers that are fixed for the life of a drive."""
    if isinstance(policy, Victim):
        return policy.rule
    if isinstance(policy, Schedule):
        first = [kind for kind in OCCUPANTS if policy.first_on_channel(kind)]
        by = [(kind, _names(policy.interrupters(kind))) for kind in OCCUPANTS]
        return first, by, bool(policy.reads_close_channel), bool(policy.collections_hold_programs)
    return None


def _names(kinds: Collection[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else list(kinds)


def interrupt(threads: Sequence[int]) -> None:
    """Raise ``KeyboardInterrupt`` in threads that are in a policy."""
    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
