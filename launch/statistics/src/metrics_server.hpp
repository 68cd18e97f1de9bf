// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "socket.hpp"

namespace apgas::inline v0::launch {

// Serves one page, /metrics, by HTTP to every client that may connect: APGAS_METRICS. A thread of
// its own answers one request after the other.
class metrics_server {
 public:
  // Returns the page; nothing if it cannot be had now.
  using page_function = std::function<std::optional<std::string>()>;

  // Listens at `where` (socket.hpp). The thread calls `page` for each request.
  // Throws: launch_error if that is not possible.
  metrics_server(const std::string& where, page_function page);
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;
  ~metrics_server();

 private:
  void serve() noexcept;
  void answer(int client);
  std::string response_to(const std::string& request);

  const page_function page_;
  const base::descriptor listening_;
  const base::descriptor stop_;  // an eventfd: readable when the server is to end
  std::thread thread_;
};

}  // namespace apgas::inline v0::launch
