# SPDX-License-Identifier: Apache-2.0
# The page about running jobs looks at observed with one place, observed2 with two, and search,
# which is the program uts, with two. They run until the end of the page.
cp "$PREPARE/../../places/control/observed.cpp" .
g++ -O1 -g observed.cpp -o observed $(pkg-config --cflags --libs apgas)
cp observed observed2
cp "$(command -v uts)" search
run() {  # run NAME COMMAND...: in the background, until apgas-ps sees that it is there
  "${@:2}" < <(exec sleep 600 2> /dev/null) > /dev/null 2> "$1.log" &
  for _ in {1..100}; do
    apgas-ps "$1" > /dev/null 2>&1 && return
    sleep 0.1
  done
  cat "$1.log"
  return 1
}
run observed env APGAS_WORKERS=2 ./observed suspended
run observed2 env APGAS_PLACES=2 APGAS_WORKERS=2 ./observed2 suspended
run search env APGAS_PLACES=2 APGAS_WORKERS=1 APGAS_TRACE_DETAIL=stolen \
  ./search -t 1 -a 3 -d 20 -b 4 -r 19
apgas-ps observed > /dev/null  # so that the next report says for how long the tasks have waited
sleep 1
