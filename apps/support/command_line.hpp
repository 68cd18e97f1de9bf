// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of an app, based on CLI11. All apps behave in the same way for scripts: `--help`
// explains the options, and a wrong option or value causes one line on stderr and exit code 2. The
// main function of each app uses this before apgas::run, so that a wrong option starts no place.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its own
class App;
}

namespace apps {

// Values of an option that are known but cannot be chosen. The message for each is the value and
// the text beside it, with the reason and the remedy: "is not built in; ...".
using refusals = std::vector<std::pair<std::string, std::string>>;

class command_line {
 public:
  command_line(std::string app, const std::string& what_it_shows);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  // `names` is as in CLI11: "-n,--size". `value` holds the default and must outlive parse().
  void option(const std::string& names, std::int64_t& value, std::int64_t low, std::int64_t high,
              const std::string& help);
  void option(const std::string& names, int& value, int low, int high, const std::string& help);
  void option(const std::string& names, double& value, double low, double high,
              const std::string& help);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& allowed,
              const std::string& help, const refusals& refused = {});
  void text(const std::string& names, std::string& value, const std::string& help);
  // A required argument without a dash.
  void argument(const std::string& name, std::string& value,
                const std::vector<std::string>& allowed, const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);

  // The exit code if the program ends here: 0 after --help, 2 after a wrong option.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);

  // Reports on stderr, in one line for the whole job, what is wrong with the combination of values.
  // Returns 2.
  [[nodiscard]] int refuse(const std::string& what_is_wrong) const;

 private:
  std::string app_;
  std::unique_ptr<CLI::App> parser_;
};

}  // namespace apps
