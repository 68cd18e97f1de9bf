# SPDX-License-Identifier: Apache-2.0
# The page about traces shows what is left of a program that dies.
cp "$PREPARE/dies.cpp" .
g++ -O1 -g dies.cpp -o dies $(pkg-config --cflags --libs apgas)
mkdir out
