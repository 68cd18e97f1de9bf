// SPDX-License-Identifier: Apache-2.0
// The end of a run over places: the messages, and the steps of the transports. The collectives
// between them are MPI's, and are not counted.
#include "scale.hpp"
#include "sim_end.hpp"

namespace bench {
namespace {

constexpr std::int64_t frame_bytes = 32;

scale_result end_of_a_run(int places) {
  sim::end_world world(places, 0);
  scale_result r;
  r.depth = world.run_in_rounds();
  r.wrong = world.wrong();
  if (r.wrong.empty() && !world.all_over()) r.wrong = "the run does not end at some place";
  r.frames = world.tells();
  r.to_other = 1;
  r.bytes = (world.tells_by(1) + 1) * frame_bytes;
  if (r.wrong.empty() && r.frames != places - 1)
    r.wrong = "the number of messages is not one for each place";
  return r;
}

}  // namespace

std::vector<workload> end_workloads() {
  return {{"end of a run", "main has returned", 100'000, end_of_a_run}};
}

}  // namespace bench
