// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <apgas/comm/transports.hpp>

#include "launcher_process.hpp"
#include "mpi_environment.hpp"

namespace apgas::inline v0::comm {

namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): no other thread

// By the variables of Open MPI and of Slurm; false if neither says it.
bool all_on_this_host() {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all != nullptr && here != nullptr) return std::strcmp(all, here) == 0;
  const char* const nodes = std::getenv("SLURM_STEP_NUM_NODES");
  return nodes != nullptr && std::strcmp(nodes, "1") == 0;
}

}  // namespace

tcp_interfaces choose_tcp_interfaces(const std::vector<network_interface>& all, bool one_host) {
  const auto remaining = std::ranges::find_if(all, [](const network_interface& each) {
    return each.running && !each.loopback && !each.transient;
  });
  if (one_host && remaining != all.end()) return {.use = remaining->name, .avoid = {}};
  tcp_interfaces chosen{.use = {}, .avoid = "127.0.0.1/8"};
  for (const network_interface& each : all) {
    if (!each.running) chosen.avoid += "," + each.name;
  }
  return chosen;
}

void prepare_mpi_environment() {
  // System V shared memory between the places of a host is released with its last user, even if
  // all processes are killed. Where it is not allowed, Open MPI uses files.
  setenv("OMPI_MCA_shmem_sysv_priority", "100", 0);
  if (!launched_by_mpi() || in_namespaces_of_launcher()) return;
  // Both believe that processes with the same host name can share memory: Open MPI would crash
  // between pid namespaces and hang between ipc namespaces, and UCX fails between user namespaces.
  setenv("OMPI_MCA_btl", "self,tcp", 0);
  setenv("UCX_TLS", "^shm", 0);
  if (std::getenv("OMPI_MCA_btl_tcp_if_include") != nullptr ||
      std::getenv("OMPI_MCA_btl_tcp_if_exclude") != nullptr) {
    return;  // Open MPI refuses both together
  }
  const tcp_interfaces chosen = choose_tcp_interfaces(interfaces_with_ipv4(), all_on_this_host());
  if (chosen.use.empty()) {
    setenv("OMPI_MCA_btl_tcp_if_exclude", chosen.avoid.c_str(), 0);
  } else {
    setenv("OMPI_MCA_btl_tcp_if_include", chosen.use.c_str(), 0);
  }
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace apgas::inline v0::comm
