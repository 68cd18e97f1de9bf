# The page about statistics asks a job for its counters, at a free port instead of 9100.
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
APGAS_PLACES=2 APGAS_WORKERS=1 APGAS_METRICS=$port uts -t 1 -a 3 -d 20 -b 4 -r 19 > /dev/null 2>&1 &
mkdir ~/bin
printf '#!/bin/sh\nexec /usr/bin/env PATH="%s" curl "$1" "${2%%9100*}%s${2#*9100}"\n' \
  "$PATH" "$port" > ~/bin/curl
chmod +x ~/bin/curl
for _ in {1..100}; do
  ~/bin/curl -s http://127.0.0.1:9100/metrics | grep -q stolen && break
  sleep 0.1
done
export PATH=~/bin:$PATH
