# The page about running jobs looks at solve with one place, solve2 with two, and uts with two. They
# run until the end of the page.
cp "$PREPARE/../../places/control/observed.cpp" solve.cpp
g++ -O1 -g solve.cpp -o solve $(pkg-config --cflags --libs apgas)
cp solve solve2
run() {  # run NAME COMMAND...: in the background, until apgas-ps sees that it is there
  "${@:2}" < <(exec sleep 600 2> /dev/null) > /dev/null 2> "$1.log" &
  for _ in {1..100}; do
    apgas-ps "$1" > /dev/null 2>&1 && return
    sleep 0.1
  done
  cat "$1.log"
  return 1
}
run solve env APGAS_WORKERS=2 ./solve suspended
run solve2 env APGAS_PLACES=2 APGAS_WORKERS=2 ./solve2 suspended
run uts env APGAS_PLACES=2 APGAS_WORKERS=1 APGAS_TRACE_DETAIL=stolen uts -t 1 -a 3 -d 20 -b 4 -r 19
apgas-ps solve > /dev/null  # so that the next report says for how long the tasks have waited
sleep 1
