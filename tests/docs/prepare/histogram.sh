# SPDX-License-Identifier: Apache-2.0
source "$PREPARE/three_hosts.sh"
