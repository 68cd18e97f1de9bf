// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one table of what a user can set: environment variable, unit, accepted values, help, and how
// to read and show each. Used at start by launch and by apgas-info; nobody else calls getenv.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/base/settings.hpp>

namespace apgas::inline v0::base {

struct option {
  std::string_view name;      // APGAS_WORKERS
  std::string_view unit;      // "workers", "us", "bytes"; empty for a choice
  std::string_view accepted;  // in words, for messages and help
  std::string_view help;
  void (*set)(settings&, const option&, std::string_view value);
  std::string (*show)(const settings&);  // as set() would read it, or "automatic"
};

// All options, in the order they are printed.
std::span<const option> options() noexcept;

// Reads `value` into the setting that belongs to `name`.
// Throws: std::invalid_argument naming the variable, the value and what is accepted.
void set_option(settings& target, std::string_view name, std::string_view value);

// `defaults` with what `environment` (as ::environ: "NAME=value", ended by null) sets.
// Throws: as set_option.
settings read_settings(settings defaults, const char* const* environment);

// One line for each APGAS_* variable that is not in the table, with the closest known name.
// APGAS_TEST_* belongs to the tests, APGAS_LAUNCHED_BY and APGAS_HOSTS to the launcher; they are
// not reported.
std::vector<std::string> unknown_variables(const char* const* environment);

// Prints those lines as warnings, once in the life of the process. Context: any thread.
void warn_unknown_variables(const char* const* environment);

}  // namespace apgas::inline v0::base
