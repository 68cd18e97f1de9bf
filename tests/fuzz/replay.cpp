// SPDX-License-Identifier: Apache-2.0

// Runs a fuzz target without a fuzzer on each file of the given folders.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!file.is_regular_file()) continue;
      std::ifstream stream(file.path(), std::ios::binary);
      std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
      bytes.shrink_to_fit();  // lets the sanitizer detect reads beyond the end
      std::printf("%s, %zu bytes\n", file.path().c_str(), bytes.size());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%d files\n", files);
  return files == 0 ? 1 : 0;
}
