// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include <apgas/run.hpp>

#include "support/command_line.hpp"

namespace apps {
namespace {

constexpr int usage_error = 2;

// CLI::Range accepts "nan", since every comparison with it is false.
CLI::Validator number_in(double low, double high) {
  const std::string wanted = (std::ostringstream() << low << " to " << high).str();
  const auto check = [=](const std::string& text) -> std::string {
    double value = 0;
    std::istringstream in(text);
    in >> std::noskipws >> value;
    const bool whole = !in.fail() && in.peek() == std::istringstream::traits_type::eof();
    return whole && value >= low && value <= high ? "" : text + " is not a number from " + wanted;
  };
  return {check, "in [" + wanted + "]"};
}

CLI::Validator none_of(const refusals& refused) {
  const auto check = [refused](const std::string& text) -> std::string {
    for (const auto& [value, why] : refused) {
      if (text == value) return std::string(value).append(" ").append(why);
    }
    return "";
  };
  return {check, ""};
}

}  // namespace

command_line::command_line(std::string app, const std::string& what_it_shows)
    : app_(std::move(app)), parser_(std::make_unique<CLI::App>(what_it_shows, app_)) {
  parser_->footer("Workers and places come from APGAS_WORKERS and APGAS_PLACES.");
  parser_->option_defaults()->always_capture_default();
}

command_line::~command_line() = default;

void command_line::option(const std::string& names, std::int64_t& value, std::int64_t low,
                          std::int64_t high, const std::string& help) {
  parser_->add_option(names, value, help)->check(CLI::Range(low, high));
}

void command_line::option(const std::string& names, int& value, int low, int high,
                          const std::string& help) {
  parser_->add_option(names, value, help)->check(CLI::Range(low, high));
}

void command_line::option(const std::string& names, double& value, double low, double high,
                          const std::string& help) {
  parser_->add_option(names, value, help)->check(number_in(low, high));
}

void command_line::choice(const std::string& names, std::string& value,
                          const std::vector<std::string>& allowed, const std::string& help,
                          const refusals& refused) {
  CLI::Option* const option = parser_->add_option(names, value, help);
  if (!refused.empty()) option->check(none_of(refused));
  option->check(CLI::IsMember(allowed));
}

void command_line::text(const std::string& names, std::string& value, const std::string& help) {
  parser_->add_option(names, value, help);
}

void command_line::argument(const std::string& name, std::string& value,
                            const std::vector<std::string>& allowed, const std::string& help) {
  parser_->add_option(name, value, help)->required()->check(CLI::IsMember(allowed));
}

void command_line::flag(const std::string& names, bool& value, const std::string& help) {
  parser_->add_flag(names, value, help);
}

std::optional<int> command_line::parse(int argc, char** argv) {
  try {
    parser_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    if (apgas::detail::reports_for_job()) std::cout << parser_->help() << std::flush;
    return std::cout ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
}

int command_line::refuse(const std::string& what_is_wrong) const {
  if (!apgas::detail::reports_for_job()) {
    apgas::detail::let_others_report();
    return usage_error;
  }
  std::string line = what_is_wrong;
  std::ranges::replace(line, '\n', ' ');
  std::cerr << app_ << ": " << line << " (see " << app_ << " --help)\n";
  return usage_error;
}

}  // namespace apps
