# SPDX-License-Identifier: Apache-2.0
# The page about statistics asks a job for its counters, which are at a free port instead of 9100.
port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
curl() { command curl "${@//9100/$port}"; }
export port
export -f curl
APGAS_PLACES=2 APGAS_WORKERS=1 APGAS_METRICS=$port uts -t 1 -a 3 -d 20 -b 4 -r 19 > /dev/null 2>&1 &
for _ in {1..100}; do
  curl -s http://127.0.0.1:9100/metrics > metrics && break
  sleep 0.1
done
