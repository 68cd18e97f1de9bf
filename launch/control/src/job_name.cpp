// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "job_name.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t longest_name = 48;  // so that the address fits into a sockaddr_un

// Other characters than those of names would confuse readers of /proc/net/unix.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name.substr(0, longest_name)) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    plain += fits ? c : '_';
  }
  return plain;
}

}  // namespace

std::string job_name(const std::function<const char*(const char*)>& variable, pid_t process) {
  const auto text = [&variable](const char* name) {
    const char* const value = variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  for (const char* const name : {"PMIX_NAMESPACE", "PMI_JOBID"}) {
    if (const std::string value = text(name); !value.empty()) return plain_name(value);
  }
  // Programs that a shell in an interactive step starts inherit its variables; each is a job.
  if (text("SLURM_TASK_PID") == fmt::to_string(process)) {
    return plain_name(text("SLURM_JOB_ID") + "." + text("SLURM_STEP_ID"));
  }
  return fmt::to_string(process);
}

std::string control_address(uid_t user, const std::string& job, comm::rank place, pid_t process) {
  return fmt::format("apgas/{}/{}/{}/{}", user, job, place, process);
}

}  // namespace apgas::inline v0::launch
