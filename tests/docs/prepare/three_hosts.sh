# SPDX-License-Identifier: Apache-2.0
# Sourced by those of pages whose commands name the hosts a, b and c: ssh leads to this host, where
# its command sees the name of that host and resolves the others.
if ! unshare --uts --mount true 2> /dev/null; then
  echo "skipped: to give this host other names needs root"
  exit 77
fi
mkdir -p ~/bin
export PATH=~/bin:$PATH
address=$(hostname -I | cut -d' ' -f1)
{
  cat /etc/hosts
  printf '%s %s\n' "${address:-127.0.0.1}" a "${address:-127.0.0.1}" b "${address:-127.0.0.1}" c
} > ~/hosts
cat > ~/bin/ssh << 'END'
#!/bin/bash
while [[ $1 = -* ]]; do
  case $1 in -o | -p | -i | -l) shift 2 ;; *) shift ;; esac
done
exec unshare --uts --mount bash -c '
  hostname "$0"
  mount --bind ~/hosts /etc/hosts
  exec sh -c "$*"' "$@"
END
chmod +x ~/bin/ssh
