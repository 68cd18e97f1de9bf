# SPDX-License-Identifier: Apache-2.0
# The page about hangs shows what these programs print besides its own.
cp "$PREPARE/waits.cpp" .
g++ -O1 -g waits.cpp -o waits $(pkg-config --cflags --libs apgas)
