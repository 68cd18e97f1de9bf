// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "leftover_files.hpp"

namespace apgas::inline v0::launch {

void remove_leftover_files(pid_t mpirun) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  const char* const set = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): no other thread
  const std::filesystem::path of_user =
      std::filesystem::path(set ? set : "/tmp") / fmt::format("ompi.{}.{}", host, geteuid());
  std::error_code ignored;
  std::filesystem::remove_all(of_user / fmt::format("pid.{}", mpirun), ignored);
}

}  // namespace apgas::inline v0::launch
