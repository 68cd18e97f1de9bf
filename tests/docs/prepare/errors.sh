# SPDX-License-Identifier: Apache-2.0
# The page about errors shows how the exceptions of this program are reported.
cp "$PREPARE/throws.cpp" .
g++ -O1 -g throws.cpp -o throws $(pkg-config --cflags --libs apgas)
