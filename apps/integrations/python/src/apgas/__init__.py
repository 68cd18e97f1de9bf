# SPDX-License-Identifier: Apache-2.0
"""Parallel loops and a pool of threads, by the work-stealing runtime apgas.

    import apgas

    apgas.forall(range(n), row)                 # row(i) for each i; numpy runs in parallel
    apgas.forall(n, library.relax, data=array)  # compiled, in tasks, without Python's lock
    with apgas.Pool() as pool:                  # a concurrent.futures.Executor
        print(list(pool.map(work, items)))

The runtime starts when it is first used, with a worker for each core, or by start(). A process has
one. It ends with the process, or by stop().
"""

import atexit
import collections.abc
import ctypes
import os
import threading

from . import _native
from ._pool import Pool

__all__ = ["Pool", "forall", "running", "start", "stop", "workers"]

_starting = threading.Lock()
_process = None  # that started the runtime: a forked one has no workers


def start(workers=None):
    """Starts the runtime with that many workers; None: one for each core that may be used.

    In a job of several places (mpirun), place 0 goes on; the others serve it and do not return.
    Raises ValueError if the number is not positive, RuntimeError if the runtime is running.
    """
    global _process
    if workers is not None and workers < 1:
        raise ValueError(f"apgas.start: workers must be at least 1, not {workers}")
    with _starting:
        if running():
            raise RuntimeError(
                "apgas.start: the runtime is running already; call apgas.stop() first")
        _native.start(workers or 0)
        _process = os.getpid()


def stop():
    """Waits for all tasks and ends the runtime. Does nothing if it is not running."""
    if running():
        _native.stop()


def running():
    """Whether the runtime is running in this process."""
    return _process == os.getpid() and _native.running()


def workers():
    """The number of workers. Starts the runtime if it is not running."""
    _start_if_needed()
    return _native.workers()


def _start_if_needed():
    if _native.running():
        if _process != os.getpid():
            raise RuntimeError(
                "apgas was called in a process that was forked from one in which its runtime was "
                "running; use the start method 'spawn' of multiprocessing")
        return
    try:
        start()
    except RuntimeError:
        if not running():  # another thread was not faster
            raise


def forall(items, body, *, data=None, grain=None):
    """Calls body for each item, in parallel, and returns when all calls have returned.

    items: a sequence, such as a range or a list; or a number n, for range(n).
    body: a Python function of one item, which runs in as many threads as there are workers. Or a
        function of a ctypes library, void body(int64_t i, void *data), which runs in tasks without
        Python's lock; then items must be a number or a range of step 1 that begins at 0.
    data: what a compiled body gets as its second argument: None, an address, a ctypes object, or an
        object with a writable buffer, such as an array of numpy. It must live during the call.
    grain: how many items a thread takes at a time; None: about an eighth of its share.

    All items are tried. Raises what body raised; if it raised several times, an ExceptionGroup with
    the exceptions in the order of the items (before Python 3.11, the first of them).
    """
    sequence = range(items) if isinstance(items, int) else items
    if not isinstance(sequence, collections.abc.Sequence) and not (
            hasattr(sequence, "__getitem__") and hasattr(sequence, "__len__")):
        raise TypeError(f"apgas.forall needs a number or a sequence, not {type(items).__name__}; "
                        "make a list of an iterator")
    if grain is not None and grain < 1:
        raise ValueError(f"apgas.forall: grain must be at least 1, not {grain}")
    _start_if_needed()
    size = len(sequence)
    if isinstance(body, ctypes._CFuncPtr):
        if sequence != range(size):
            raise TypeError(
                "apgas.forall: a compiled body needs a number, or a range from 0 of step 1")
        holder, address = _address_of(data)
        _native.forall_native(size, ctypes.cast(body, ctypes.c_void_p).value, address)
        del holder
        return
    if data is not None:
        raise TypeError("apgas.forall: only a compiled body takes data")
    if not callable(body):
        raise TypeError(f"apgas.forall: the body must be callable, not {type(body).__name__}")
    if grain is None:
        grain = max(1, size // (8 * _native.workers()))
    grain = min(grain, max(1, size))
    _raise_all(_native.forall_python(size, lambda i: body(sequence[i]), grain))


def _address_of(data):
    """Returns what must stay alive during the call, and its address."""
    if data is None:
        return None, 0
    if isinstance(data, int):
        return None, data
    if isinstance(data, ctypes._SimpleCData | ctypes.Structure | ctypes.Array | ctypes._Pointer):
        is_address = isinstance(data, ctypes._Pointer | ctypes.c_void_p)
        return data, (ctypes.cast(data, ctypes.c_void_p).value or 0) if is_address else (
            ctypes.addressof(data))
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError("apgas.forall: data must be an address, a ctypes object or a buffer, not "
                        f"{type(data).__name__}") from None
    if view.readonly or not view.contiguous:
        raise TypeError("apgas.forall: the buffer of data must be writable and contiguous")
    if view.nbytes == 0:
        return view, 0
    held = ctypes.c_char.from_buffer(data)
    return held, ctypes.addressof(held)


def _raise_all(errors):
    if len(errors) == 1:
        raise errors[0]
    if errors:
        try:
            raise BaseExceptionGroup(
                f"{len(errors)} calls of a body of apgas.forall failed", errors)
        except NameError:
            raise errors[0] from None


atexit.register(stop)
