# SPDX-License-Identifier: Apache-2.0
# The page about crashes shows the trail of this program besides its own. Its gdb ends at once,
# since it has no input.
command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
cp "$PREPARE/divide.cpp" .
g++ -O1 -g divide.cpp -o divide $(pkg-config --cflags --libs apgas)
