// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>

#include "merge_program.hpp"

// Pairs
//   P1  A thread that sees that the program is known sees its whole path.
namespace apgas::inline v0::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "apgas-trace-merge";
char program_file[4096];  // not a string, whose destructor may run before a late signal
base::atomic<bool> program_known{false};

// An installed library is in lib or lib/x86_64-linux-gnu, and its programs are in bin.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_merge_program), &here) != 0 && here.dli_fname) {
    const fs::path folder = fs::path(here.dli_fname).parent_path();
    all = {folder / "../bin", folder / "../../bin"};
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start
  const char* const path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "" : path);
  for (std::string each; std::getline(entries, each, ':');) {
    if (!each.empty()) all.emplace_back(each);
  }
  return all;
}

// What the child of a fork does: only what the handler of a signal may do.
[[noreturn]] void become_program(const char* path) noexcept {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);  // the caller says what was made
  const char* const arguments[] = {program_name, path, nullptr};
  execv(program_file, const_cast<char* const*>(arguments));
  _exit(127);
}

}  // namespace

void find_merge_program() {
  if (program_known.load(base::relaxed)) return;
  for (const fs::path& folder : folders()) {
    const std::string file = (folder / program_name).string();
    if (file.size() >= sizeof program_file || access(file.c_str(), X_OK) != 0) continue;
    std::ranges::copy(file, program_file);
    program_known.store(true, base::release);  // P1
    return;
  }
}

bool run_merge_program(const char* path) noexcept {
  if (!program_known.load(base::acquire)) return false;  // P1
  const pid_t child = _Fork();  // fork() would run handlers of the program and of malloc
  if (child == 0) become_program(path);
  if (child < 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace apgas::inline v0::launch
