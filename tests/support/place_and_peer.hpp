// SPDX-License-Identifier: Apache-2.0
#pragma once

// Place 0 of a job of two places. Place 1 is an endpoint, which sends what a test tells it to send
// and ignores what it receives.

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>

#include "place_runtime.hpp"

namespace apgas::test {

class place_and_peer {
 public:
  // `profiled`: with APGAS_PROFILE=span.
  explicit place_and_peer(bool profiled = false)
      : place({&fabric_.at(0), "test"}, one_worker(profiled)),
        peer(fabric_.at(1), sink_, agreed(profiled)) {
    place.bootstrap();
    peer.wait_ready();
    place.start();
  }

 private:
  struct deaf final : comm::frame_sink {
    void on_frame(const comm::inbound_frame&) noexcept override {}
  };
  static base::settings one_worker(bool profiled) {
    base::settings settings;
    settings.workers = 1;
    settings.profile_span = profiled;
    return settings;
  }
  static comm::endpoint_options agreed(bool profiled) {
    comm::endpoint_options options;
    options.settings = "APGAS_TASK_WINDOW=8M";
    if (profiled) options.settings += " APGAS_PROFILE=span";
    options.cores.processors = {0};
    return options;
  }

  comm::local_fabric fabric_{2};
  deaf sink_;

 public:
  launch::place_runtime place;
  comm::endpoint peer;
};

}  // namespace apgas::test
