// SPDX-License-Identifier: Apache-2.0

// Tells from the environment who started this process. MPI is not touched.

#include <cstdlib>

#include <apgas/base/parse.hpp>
#include <apgas/comm/transports.hpp>

namespace apgas::inline v0::comm {

namespace {

struct launcher {
  const char* name;
  const char* rank;  // set in every process that it starts
  const char* also;  // must be set too; nullptr: nothing
  const char* size;  // processes of the job; nullptr: not said
};

// The first that fits is taken. Slurm sets SLURM_PROCID in batch scripts too, a step id only in
// what srun starts.
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
