# SPDX-License-Identifier: Apache-2.0
# The page about crashes shows the trail of this program besides its own.
cp "$PREPARE/divide.cpp" .
g++ -O1 -g divide.cpp -o divide $(pkg-config --cflags --libs apgas)
