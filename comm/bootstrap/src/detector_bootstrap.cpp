// SPDX-License-Identifier: Apache-2.0

// Starts the failure detector. The places exchange their hosts, the address of place 0 and the
// token of the job over MPI, which runs already. Then they connect to each other.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>

#include "detector_address.hpp"
#include "detector_bootstrap.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr std::chrono::seconds time_to_connect{10};

// The record of each place. A network namespace counts as part of the host, because abstract
// sockets belong to it.
struct host_identity {
  char host[128] = {};
  char boot[64] = {};
  std::uint64_t network = 0;
};

// The record of place 0.
struct detector_parameters {
  detector_token token{};
  in_addr address{};
  std::uint16_t port = 0;
  std::int64_t timeout_ns = 0;
  char failure[512] = {};
};

template <std::size_t Size>
void copy_text(char (&to)[Size], const std::string& text) {
  std::memcpy(to, text.data(), std::min(text.size(), Size - 1));
}

host_identity own_host_identity() {
  host_identity own;
  if (gethostname(own.host, sizeof(own.host) - 1) != 0) own.host[0] = '?';
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  copy_text(own.boot, boot);
  struct stat network = {};
  if (stat("/proc/self/ns/net", &network) == 0) own.network = network.st_ino;
  return own;
}

detection_tree exchange_hosts(const mpi_channels& channels) {
  const host_identity own = own_host_identity();
  std::vector<host_identity> all(static_cast<std::size_t>(channels.size));
  mpi_check(
      MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, channels.bulk),
      "MPI_Allgather");
  std::vector<std::string> names;
  std::vector<std::string> keys;
  for (const host_identity& each : all) {
    names.emplace_back(each.host);
    keys.push_back(fmt::format("{} {} {}", each.host, each.boot, each.network));
  }
  return {std::move(names), keys};
}

detector_parameters make_parameters(const detection_tree& tree,
                                    const failure_detector_options& options,
                                    std::vector<descriptor>& listeners) {
  detector_parameters made;
  made.timeout_ns = std::chrono::nanoseconds(options.silence).count();
  try {
    if (getrandom(made.token.data(), made.token.size(), 0) != sizeof(made.token)) {
      throw launch_error("the kernel returned no random numbers (getrandom)");
    }
    if (!tree.one_host()) {
      made.address = address_of_job(options.interface);
      listeners.push_back(listen_on(made.address, made.port));
    }
  } catch (const launch_error& refused) {
    copy_text(made.failure, refused.what());
  } catch (const std::system_error& refused) {
    copy_text(made.failure,
              fmt::format("place 0 on {} cannot accept connections of other hosts ({}); set "
                          "APGAS_INTERFACE to an interface of their network",
                          tree.host(0), refused.what()));
  }
  return made;
}

descriptor connect_to_parent(const detection_tree& tree, rank here, const detector_parameters& to) {
  descriptor made = tree.is_leader(here)
                        ? connect_to(to.address, to.port, time_to_connect)
                        : base::connect_locally(local_name(to.token, tree.leader_of(here)));
  const detector_hello hello{.from = here, .token = to.token};
  if (send(made.number(), &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello)) {
    throw std::system_error(errno, std::system_category(), "send");
  }
  return made;
}

std::string address_text(const detector_parameters& to) {
  char text[INET_ADDRSTRLEN] = "?";
  inet_ntop(AF_INET, &to.address, text, sizeof(text));
  return fmt::format("{}:{}", text, to.port);
}

// Agrees on the failure of the lowest place that has one, and throws it at all places.
void agree(const mpi_channels& channels, const std::string& failure) {
  const int none = channels.size;
  int first = failure.empty() ? none : channels.here;
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, channels.bulk),
            "MPI_Allreduce");
  if (first == none) return;
  char text[1024] = {};
  copy_text(text, failure);
  mpi_check(MPI_Bcast(text, sizeof(text), MPI_BYTE, first, channels.bulk), "MPI_Bcast");
  throw launch_error(text);
}

}  // namespace

std::unique_ptr<failure_detector> start_failure_detector(const mpi_channels& channels,
                                                         const failure_detector_options& options,
                                                         failure_detector::end_function end) {
  if (channels.size == 1) return nullptr;
  detector_plan plan{exchange_hosts(channels), channels.here, {}, {}, descriptor(), {}};
  detector_parameters all;
  if (channels.here == 0) all = make_parameters(plan.tree, options, plan.listeners);
  mpi_check(MPI_Bcast(&all, sizeof(all), MPI_BYTE, 0, channels.bulk), "MPI_Bcast");
  if (all.failure[0] != '\0') throw launch_error(all.failure);
  plan.token = all.token;
  plan.timeout = std::chrono::nanoseconds(all.timeout_ns);

  std::string failure;
  try {
    if (plan.tree.is_leader(channels.here) && plan.tree.members_of_host(channels.here).size() > 1) {
      plan.listeners.push_back(
          base::listen_locally(local_name(all.token, channels.here), detector_backlog));
    }
  } catch (const std::system_error& refused) {
    failure = fmt::format("{} cannot accept connections of the other places of its host ({})",
                          plan.tree.name(channels.here), refused.what());
  }
  agree(channels, failure);  // no place connects before all listen
  try {
    if (channels.here != 0) plan.parent = connect_to_parent(plan.tree, channels.here, all);
  } catch (const std::system_error& refused) {
    failure = fmt::format(
        "{} cannot reach place {} on {} at {} ({}). A firewall may block the connection, or the "
        "hosts "
        "may be on different networks. Set APGAS_INTERFACE to an interface, address or network "
        "that "
        "all hosts share",
        plan.tree.name(channels.here), plan.tree.parent(channels.here),
        plan.tree.host(plan.tree.parent(channels.here)),
        plan.tree.is_leader(channels.here) ? address_text(all) : "its socket", refused.what());
  }
  agree(channels, failure);
  return std::make_unique<failure_detector>(
      std::move(plan), end, [](const std::string& line) { base::print_line(line); });
}

}  // namespace apgas::inline v0::comm
