# SPDX-License-Identifier: Apache-2.0
# On the page about reliability 12345 stands for the process of a place. Here it is a process that
# sleeps, and gdb ends at once, since it has no input. The program solve is hello.
command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
cp "$(command -v hello)" solve
sleep 600 > /dev/null 2>&1 &
pid=$!
gdb() { command gdb "${@/12345/$pid}"; }
export pid
export -f gdb
