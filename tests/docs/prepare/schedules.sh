# SPDX-License-Identifier: Apache-2.0
# The gdb of the page about schedules ends at once, since it has no input.
command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
