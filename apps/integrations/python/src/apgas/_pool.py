# SPDX-License-Identifier: Apache-2.0
"""A concurrent.futures.Executor."""

import collections
import concurrent.futures
import threading

from . import _native


class Pool(concurrent.futures.Executor):
    """Runs functions in parallel, like concurrent.futures.ThreadPoolExecutor.

    max_workers: how many functions run at the same time; None: as many as the runtime has workers.
    They begin in the order of submit. A function may call apgas.forall, submit more, and wait for
    their futures; as with ThreadPoolExecutor, functions that all wait for one that has not begun
    wait for ever.
    """

    def __init__(self, max_workers=None):
        from . import _start_if_needed
        _start_if_needed()
        if max_workers is None:
            max_workers = _native.workers()
        if max_workers < 1:
            raise ValueError(f"apgas.Pool: max_workers must be at least 1, not {max_workers}")
        self._most = max_workers
        self._changed = threading.Condition()
        self._waiting = collections.deque()  # futures of functions that have not begun, and these
        self._threads = 0  # that run functions
        self._shut_down = False

    def submit(self, fn, /, *args, **kwargs):
        """Lets fn(*args, **kwargs) run, and returns its concurrent.futures.Future.

        Raises RuntimeError after shutdown() and after apgas.stop().
        """
        future = concurrent.futures.Future()
        with self._changed:
            if self._shut_down:
                raise RuntimeError("apgas.Pool: submit was called after shutdown")
            if self._threads < self._most:
                _native.spawn(self._run)
                self._threads += 1
            self._waiting.append((future, fn, args, kwargs))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Refuses further functions; waits for those that were submitted unless wait is False.

        cancel_futures: functions that have not begun are cancelled.
        """
        with self._changed:
            self._shut_down = True
            cancelled = [each[0] for each in self._waiting] if cancel_futures else []
        for future in cancelled:
            future.cancel()
        if wait:
            with self._changed:
                self._changed.wait_for(lambda: self._threads == 0)

    def _run(self):
        """Runs functions until none waits, in a thread of its own."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._threads -= 1
                    self._changed.notify_all()
                    return
                future, fn, args, kwargs = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            del future, fn, args, kwargs  # nothing keeps them while this thread waits for the lock
