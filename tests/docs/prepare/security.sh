# SPDX-License-Identifier: Apache-2.0
# The page about security names the hosts a, b and c, which are this one, as far as its user may
# give it other names, and the interface eth0, which is the one of the default route, or else
# loopback.
hosts=localhost:6
if unshare --uts --mount true 2> /dev/null; then
  source "$PREPARE/three_hosts.sh"
  hosts=a,b,c
fi
interface=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
apgas-run() {
  local arguments=("${@/a,b,c/$hosts}")
  command apgas-run "${arguments[@]//eth0/${interface:-lo}}"
}
export APGAS_WORKERS=1 hosts interface
export -f apgas-run
cp "$(command -v uts)" .
