// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/program_path.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace apgas::test {
namespace {

namespace fs = std::filesystem;

// A folder of its own as PATH, with the program `tool`.
class ProgramPath : public testing::Test {
 protected:
  ProgramPath() {
    const char* const path = std::getenv("PATH");
    before_ = path == nullptr ? "" : path;
    std::ofstream(folder_ / "tool") << "#!/bin/sh\n";
    fs::permissions(folder_ / "tool", fs::perms::owner_all);
    std::ofstream(folder_ / "text") << "no program\n";
    fs::create_directory(folder_ / "directory");
  }
  ~ProgramPath() override {
    setenv("PATH", before_.c_str(), 1);
    fs::remove_all(folder_);
  }

  static fs::path new_folder() {
    std::string name = (fs::temp_directory_path() / "apgas-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    return name;
  }

  const fs::path folder_ = new_folder();
  std::string before_;
};

TEST_F(ProgramPath, TheFirstFolderOfPathCounts) {
  setenv("PATH", ("/nonexistent::" + folder_.string() + ":/bin").c_str(), 1);
  EXPECT_EQ(base::find_program("tool"), folder_ / "tool");
  EXPECT_NE(base::find_program("sh"), "") << "it is in a later folder";
}

TEST_F(ProgramPath, FilesThatCannotRunAndFoldersAreNoPrograms) {
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_EQ(base::find_program("text"), "");
  EXPECT_EQ(base::find_program("directory"), "");
  EXPECT_EQ(base::find_program("missing"), "");
  EXPECT_FALSE(base::is_program(folder_ / "directory"));
}

TEST_F(ProgramPath, AnEmptyEntryIsNotTheCurrentFolder) {
  const fs::path here = fs::current_path();
  fs::current_path(folder_);
  for (const char* const path : {"", ":", "::/nonexistent:"}) {
    setenv("PATH", path, 1);
    EXPECT_EQ(base::find_program("tool"), "") << path;
  }
  unsetenv("PATH");
  EXPECT_EQ(base::find_program("tool"), "");
  fs::current_path(here);
}

}  // namespace
}  // namespace apgas::test
