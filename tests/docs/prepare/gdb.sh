# SPDX-License-Identifier: Apache-2.0
# The page about gdb looks at this program when it has called abort(), with the commands that gdb
# loads because of the settings on the page.
command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
cp "$PREPARE/../../gdb/suspended.cpp" .
g++ -O1 -g suspended.cpp -o suspended $(pkg-config --cflags --libs apgas)
prefix=$(realpath ~/apgas)
{
  sed -n "s|/opt/apgas|$prefix|; /^add-auto-load/p" "$PREPARE/../../../docs/debugging/gdb.md"
  printf '%s\n' 'set startup-with-shell off' 'set disable-randomization off' run
} > start.gdb
export APGAS_WORKERS=1 GDB_ARGUMENTS='-x start.gdb ./suspended'
