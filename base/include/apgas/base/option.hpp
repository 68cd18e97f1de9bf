// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of settings: for each one the environment variable, the unit, the accepted values, a
// help text, and functions that read and print it. launch reads it when a run starts, and
// apgas-info prints it. No other code reads settings from the environment.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/base/settings.hpp>

namespace apgas::inline v0::base {

// One setting: a row of the table.
struct option {
  std::string_view name;      // the environment variable, such as APGAS_WORKERS
  std::string_view unit;      // "workers", "us", "bytes"; empty for a choice
  std::string_view accepted;  // the accepted values in words, for messages and help
  std::string_view help;      // what the setting does
  // Parses `value` and stores it. Throws: std::invalid_argument, as set_option.
  void (*set)(settings&, const option&, std::string_view value);
  // Returns the current value in the form that set() reads, or "automatic".
  std::string (*show)(const settings&);
};

// Returns all options in the order in which they are printed.
std::span<const option> options() noexcept;

// Sets the member of `target` that belongs to the variable `name` from the text `value`.
// Throws: std::invalid_argument if there is no such setting or it does not accept the value; the
// message names the variable, the value and what is accepted.
void set_option(settings& target, std::string_view name, std::string_view value);

// Returns `defaults` with the changes that `environment` makes. The environment has the form of
// ::environ: strings "NAME=value", ended by a null pointer. Throws: as set_option.
settings read_settings(settings defaults, const char* const* environment);

// Returns a line for each APGAS_* variable that is not in the table, with the closest known name.
// Variables of the tests (APGAS_TEST_*) and of the launcher (APGAS_LAUNCHED_BY, APGAS_HOSTS) are
// not reported.
std::vector<std::string> unknown_variables(const char* const* environment);

// Prints these lines as warnings, only once in the life of the process. Context: any thread.
void warn_unknown_variables(const char* const* environment);

}  // namespace apgas::inline v0::base
