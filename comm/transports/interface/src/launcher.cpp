// SPDX-License-Identifier: Apache-2.0

// Determines from the environment which launcher started this process, without calling MPI.

#include <cstdlib>

#include <apgas/base/parse.hpp>
#include <apgas/comm/transports.hpp>

namespace apgas::inline v0::comm {

namespace {

struct launcher {
  const char* name;
  const char* rank;  // a variable that is set in every process it starts
  const char* also;  // another variable that must be set; nullptr: none
  const char* size;  // the number of processes of the job; nullptr: unknown
};

// The first match counts. Slurm sets SLURM_PROCID also in batch scripts, but a step id only in
// processes that srun starts.
constexpr launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", nullptr, "OMPI_COMM_WORLD_SIZE"},
    {"PMI", "PMI_RANK", nullptr, "PMI_SIZE"},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK", nullptr, "MV2_COMM_WORLD_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"},
    {"PMIx", "PMIX_RANK", "PMIX_NAMESPACE", nullptr},
};

}  // namespace

std::optional<launch_environment> find_launcher() noexcept {
  for (const launcher& each : launchers) {
    // NOLINTBEGIN(concurrency-mt-unsafe): read at start
    if (!std::getenv(each.rank) || (each.also && !std::getenv(each.also))) continue;
    const char* size = each.size ? std::getenv(each.size) : nullptr;
    // NOLINTEND(concurrency-mt-unsafe)
    const auto number = base::parse_integer(size ? size : "", 1, 1 << 24);
    return launch_environment{each.name, static_cast<int>(number.value_or(0))};
  }
  return std::nullopt;
}

}  // namespace apgas::inline v0::comm
