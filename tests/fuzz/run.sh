#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets in parallel, starting from the committed corpus. It builds nothing.
#
#   tests/fuzz/run.sh 15             runs each target for 15 seconds
#   tests/fuzz/run.sh 3600 archive   runs one target for an hour
#   tests/fuzz/run.sh merge          adds inputs of local runs that increase coverage to the corpus
set -euo pipefail
cd "$(dirname "$0")/../.."

what=${1:-15}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(archive exceptions frames ring)
build=build/fuzz
export ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1

# fuzz <target>
fuzz() {
  local target=$1 program=$build/tests/fuzz/fuzz_$1 log=$build/fuzz_$1.log
  local corpus=tests/fuzz/corpus/$target own=$build/corpus/$target
  mkdir -p "$own" "$build/found"
  if [ "$what" = merge ]; then
    "$program" -merge=1 -max_len=1024 "$corpus" "$own"
    return
  fi
  "$program" -max_total_time="$what" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$build/found/$target-" "$own" "$corpus" >"$log" 2>&1 || {
    echo "$target: failed, see $log"
    grep -aE "^fuzz:|runtime error|ERROR|SUMMARY|Test unit written" "$log" || tail -n 20 "$log"
    echo "To repeat: $program $build/found/$target-<suffix as above>"
    return 1
  }
  echo "$target: $what s, log $log: $(grep -a "cov:" "$log" | tail -n 1)"
}

running=()
for target in "${targets[@]}"; do
  fuzz "$target" &
  running+=($!)
done
failed=no
for each in "${running[@]}"; do wait "$each" || failed=yes; done
[ $failed = no ]
