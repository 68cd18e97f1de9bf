# SPDX-License-Identifier: Apache-2.0
# The page about hangs shows what these programs print besides its own. Before that it calls a
# program solve, and PID stands for a process of uts, which reports once.
cp "$PREPARE/waits.cpp" .
g++ -O1 -g waits.cpp -o waits $(pkg-config --cflags --libs apgas)
cp "$(command -v hello)" solve
APGAS_WORKERS=1 env --default-signal=QUIT uts -t 1 -a 3 -d 20 -b 4 -r 19 > report.txt 2>&1 &
pid=$!
for _ in {1..100}; do
  apgas-ps uts > /dev/null 2>&1 && break
  sleep 0.1
done
kill() {
  command kill "$1" "${2/PID/$pid}"
  for _ in {1..100}; do
    if grep -q "the task" report.txt; then command kill -KILL "$pid"; return; fi
    sleep 0.1
  done
  cat report.txt
  return 1
}
export pid
export -f kill
