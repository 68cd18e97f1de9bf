// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <apgas/base/settings.hpp>
#include <apgas/places/place_report.hpp>
#include <apgas/sync/place_state.hpp>

#include "asked_task.hpp"
#include "metrics_server.hpp"

namespace apgas::inline v0::launch {

// What place 0 does with the statistics of the job: it serves them during the run (APGAS_METRICS),
// and prints them or writes them to a file at its end (APGAS_STATS).
class statistics_output {
 public:
  // Throws: launch_error if the file cannot be written or place 0 cannot listen at the port.
  statistics_output(const base::settings& settings, sync::place_state& place);
  statistics_output(const statistics_output&) = delete;
  statistics_output& operator=(const statistics_output&) = delete;
  ~statistics_output();

  // After the last task of the program has ended, while all places still answer. A failure causes a
  // warning.
  // Context: a thread that is no worker.
  void end() noexcept;

 private:
  void write_file(const std::string& text);

  const bool prints_;
  const std::string path_;
  std::ofstream file_;
  asked_task<std::vector<remote::place_report>> statistics_;
  std::unique_ptr<metrics_server> server_;
};

}  // namespace apgas::inline v0::launch
