// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>
#include <apgas/places/place_report.hpp>

#include "statistics_output.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::chrono::seconds answer_patience{5};  // of a request for metrics

}  // namespace

statistics_output::statistics_output(const base::settings& settings, sync::place_state& place)
    : prints_(settings.stats), path_(settings.stats_file), statistics_(place, remote::report_all) {
  if (!path_.empty()) {
    file_.open(path_);
    if (!file_) {
      throw launch_error(fmt::format(
          "APGAS_STATS=json:{}: that file cannot be written ({}); name one in a folder that exists "
          "and may be written at place 0",
          path_, std::system_category().message(errno)));
    }
  }
  if (settings.metrics.empty()) return;
  server_ =
      std::make_unique<metrics_server>(settings.metrics, [this]() -> std::optional<std::string> {
        const auto reports = statistics_.ask(answer_patience);
        if (!reports) return std::nullopt;
        return remote::metrics_of(*reports);
      });
}

statistics_output::~statistics_output() = default;

void statistics_output::end() noexcept {
  server_.reset();
  statistics_.wait();
  if (!prints_ && path_.empty()) return;
  try {
    const std::vector<remote::place_report> reports = statistics_.ask();
    if (prints_) base::print_line(remote::table_of(reports));
    if (!path_.empty()) write_file(remote::json_of(reports));
  } catch (const std::exception& failure) {
    base::warn(fmt::format("there are no statistics: {}", failure.what()));
  }
}

void statistics_output::write_file(const std::string& text) {
  file_ << text << '\n';
  file_.close();
  if (!file_) {
    base::warn(fmt::format("the statistics {} are not complete: they could not be written ({})",
                           path_, std::system_category().message(errno)));
  }
}

}  // namespace apgas::inline v0::launch
