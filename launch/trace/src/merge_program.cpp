// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>
#include <apgas/base/program_path.hpp>

#include "merge_program.hpp"

// Pairs
//   P1  A thread that sees that the program is known sees its whole path.
namespace apgas::inline v0::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "apgas-trace-merge";
char program_file[4096];  // not a string, whose destructor may run before a late signal
base::atomic<bool> program_known{false};

// An installed library is in lib or lib/x86_64-linux-gnu, and its programs are in bin. Empty: it is
// neither there nor on PATH.
std::string find_file() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_merge_program), &here) != 0 && here.dli_fname) {
    const fs::path folder = fs::path(here.dli_fname).parent_path();
    for (const char* const each : {"../bin", "../../bin"}) {
      std::string file = (folder / each / program_name).string();
      if (base::is_program(file)) return file;
    }
  }
  return base::find_program(program_name);
}

// What the child of a fork does: only what the handler of a signal may do.
[[noreturn]] void become_program(const char* path) noexcept {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);  // the caller says what was made
  const char* const arguments[] = {program_name, path, nullptr};
  execv(program_file, const_cast<char* const*>(arguments));
  _exit(127);
}

}  // namespace

void find_merge_program() {
  if (program_known.load(base::relaxed)) return;
  const std::string file = find_file();
  if (file.empty() || file.size() >= sizeof program_file) return;
  std::ranges::copy(file, program_file);
  program_known.store(true, base::release);  // P1
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
