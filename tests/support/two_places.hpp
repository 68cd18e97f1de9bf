// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fixture with places in one process, each with an endpoint, driven by the test's thread. So the
// test decides which messages are in flight and which frames are batched. At the end it checks that
// nothing is left.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>

namespace apgas_test {

namespace comm = apgas::comm;

struct recorded {
  comm::rank source;
  comm::frame_header header;
  std::string payload;
};

class recording_sink final : public comm::frame_sink {
 public:
  std::vector<recorded> frames;
  std::vector<std::string> bad;

  void on_frame(const comm::inbound_frame& frame) noexcept override {
    frames.push_back(
        {frame.source, *frame.header,
         std::string(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size())});
    last_payload = frame.payload.data();
  }
  void on_bad_message(comm::rank source, const std::string& what) noexcept override {
    bad.push_back("rank " + std::to_string(source) + ": " + what);
  }

  const std::byte* last_payload = nullptr;
};

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline comm::frame_header control_header(std::uint64_t number = 0) {
  comm::frame_header header;
  header.kind = comm::frame_kind::control;
  header.finish = number;
  return header;
}

class two_places : public testing::Test {
 protected:
  void start(comm::endpoint_options options = {}, int size = 2) {
    fabric = std::make_unique<comm::local_fabric>(size);
    sinks.resize(static_cast<std::size_t>(size));
    for (comm::rank r = 0; r < size; ++r) {
      sinks[static_cast<std::size_t>(r)] = std::make_unique<recording_sink>();
      endpoints.push_back(std::make_unique<comm::endpoint>(
          fabric->at(r), *sinks[static_cast<std::size_t>(r)], options));
    }
    for (auto& each : endpoints) ASSERT_TRUE(each->ready());
  }

  comm::endpoint& at(std::size_t place) { return *endpoints[place]; }
  recording_sink& sink(std::size_t place) { return *sinks[place]; }
  void send(std::size_t from, comm::rank to, const std::string& text, std::uint64_t number = 0) {
    at(from).send(to, control_header(number), bytes_of(text));
  }
  void deliver_all() {
    for (bool any = true; any;) {
      any = false;
      for (auto& each : endpoints) any |= each->progress();
    }
  }
  void end_run() {
    for (auto& each : endpoints) each->begin_end();
    for (bool all = false; !all;) {
      all = true;
      for (auto& each : endpoints) {
        each->progress();
        all &= each->end_done();
      }
    }
    endpoints.clear();
  }

  void TearDown() override {
    if (!endpoints.empty()) end_run();
    if (fabric) {
      EXPECT_EQ(fabric->pool().outstanding(), 0u);
    }
  }

  std::unique_ptr<comm::local_fabric> fabric;
  std::vector<std::unique_ptr<recording_sink>> sinks;
  std::vector<std::unique_ptr<comm::endpoint>> endpoints;
};

}  // namespace apgas_test
