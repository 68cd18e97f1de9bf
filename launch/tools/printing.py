# SPDX-License-Identifier: Apache-2.0
"""What a tool does if its output can no longer be written."""

import errno
import os
import sys

FAILED = 1
CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def exit_code(tool, main):
    """Calls main() and returns its exit code, or 0 if it has none. If the reader of its output has
    ended, as in `apgas-ps | head -1`, the rest is dropped and the code is 0; a full disk is told in
    one line."""
    try:
        try:
            code = main() or 0
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        drop_output()
        return 0
    except OSError as error:
        if error.errno not in CANNOT_BE_WRITTEN or error.filename:
            raise
        drop_output()
        print(f"{tool}: the output cannot be written: {error.strerror.lower()}", file=sys.stderr)
        return FAILED


def drop_output():
    """What is in the buffer of standard output would be written, and fail, at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
