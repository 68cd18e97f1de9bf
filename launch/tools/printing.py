# SPDX-License-Identifier: Apache-2.0
"""What a tool does if its output can no longer be written."""

import io
import os
import sys

FAILED = 1


class NotWritten(Exception):
    """Standard output cannot be written. Argument: the OSError."""


class Output(io.FileIO):
    """Standard output. Raises NotWritten, so that other errors are not taken for one of it."""

    def write(self, data):
        try:
            return super().write(data)
        except OSError as error:
            raise NotWritten(error) from None


def exit_code(tool, main):
    """Calls main() and returns its exit code, or 0 if it has none. If the reader of the output has
    ended, as in `apgas-ps | head -1`, the rest is dropped and the code is 0. A full disk is
    reported in one line. What is printed to a standard output that is closed is dropped."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    else:
        old = sys.stdout
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(Output(old.fileno(), "w", closefd=False)), encoding=old.encoding,
            errors=old.errors, line_buffering=old.line_buffering)
    try:
        try:
            code = main() or 0
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        return code
    except NotWritten as reason:
        error = reason.args[0]
        drop_output()
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"{tool}: the output cannot be written: {error.strerror.lower()}", file=sys.stderr)
        return FAILED


def drop_output():
    """What is in the buffer of standard output would be written, and fail, at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
