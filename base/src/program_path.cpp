// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/program_path.hpp>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace apgas::inline v0::base {

bool is_program(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string find_program(std::string_view program) {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): see the header
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(folder.size() == folders.size() ? folder.size() : folder.size() + 1);
    if (folder.empty()) continue;
    std::string file = std::string(folder).append("/").append(program);
    if (is_program(file)) return file;
  }
  return {};
}

}  // namespace apgas::inline v0::base
