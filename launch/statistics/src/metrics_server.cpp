// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/errors.hpp>

#include "metrics_server.hpp"

namespace apgas::inline v0::launch {
namespace {

using clock = std::chrono::steady_clock;

// How long a client may take for its request, and again for the answer.
constexpr std::chrono::seconds client_patience{2};
constexpr std::size_t longest_request = 8192;  // bytes

base::descriptor make_event() {
  base::descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made.number() < 0) {
    throw launch_error(fmt::format("APGAS_METRICS: the system gives no event ({})",
                                   std::system_category().message(errno)));
  }
  return made;
}

// A connection, and the event that ends the server while it waits for the client.
struct connection {
  int client;
  int stop;

  // Waits for `events` of the client until the time `end`. Returns whether there were any.
  bool wait_for(short events, clock::time_point end) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    pollfd watched[] = {{.fd = client, .events = events, .revents = 0},
                        {.fd = stop, .events = POLLIN, .revents = 0}};
    return left.count() > 0 && poll(watched, 2, static_cast<int>(left.count())) > 0 &&
           watched[1].revents == 0;
  }
};

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

// Returns the request with its header; empty if it does not come.
std::string read_request(const connection& with) {
  std::string request;
  const auto end = clock::now() + client_patience;
  while (request.find("\r\n\r\n") == std::string::npos) {
    char part[1024];
    if (request.size() > longest_request || !with.wait_for(POLLIN, end)) return {};
    const ssize_t bytes = recv(with.client, part, sizeof part, 0);
    if (bytes <= 0) return {};
    request.append(part, static_cast<std::size_t>(bytes));
  }
  return request;
}

void write_all(const connection& with, std::string_view text) {
  const auto end = clock::now() + client_patience;
  while (!text.empty() && with.wait_for(POLLOUT, end)) {
    const ssize_t bytes = send(with.client, text.data(), text.size(), MSG_NOSIGNAL);
    if (bytes < 0 && errno != EAGAIN) return;
    if (bytes > 0) text.remove_prefix(static_cast<std::size_t>(bytes));
  }
}

}  // namespace

metrics_server::metrics_server(const std::string& where, page_function page)
    : page_(std::move(page)),
      listening_(listen_at(where)),
      stop_(make_event()),
      thread_([this] { serve(); }) {}

metrics_server::~metrics_server() {
  const std::uint64_t one = 1;
  static_cast<void>(write(stop_.number(), &one, sizeof one));
  thread_.join();
}

void metrics_server::serve() noexcept {
  const base::own_thread counts;
  for (;;) {
    pollfd watched[] = {{.fd = listening_.number(), .events = POLLIN, .revents = 0},
                        {.fd = stop_.number(), .events = POLLIN, .revents = 0}};
    poll(watched, 2, -1);
    if (watched[1].revents != 0) return;
    const base::descriptor client(
        accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.number() < 0) {
      // Out of descriptors: the client stays in the queue, so that accept4 would fail at once
      // again.
      poll(&watched[1], 1, 100);
      continue;
    }
    try {
      answer(client.number());
    } catch (const std::exception& failure) {
      base::warn(fmt::format("the statistics could not be served: {}", failure.what()));
    }
  }
}

void metrics_server::answer(int client) {
  const connection with{client, stop_.number()};
  const std::string request = read_request(with);
  if (!request.empty()) write_all(with, response_to(request));
}

std::string metrics_server::response_to(const std::string& request) {
  constexpr std::string_view text = "text/plain; charset=utf-8";
  const std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
  if (!line.starts_with("GET ")) {
    return response("405 Method Not Allowed\r\nAllow: GET", text, "only GET is served\n");
  }
  std::string_view path = line.substr(4);
  path = path.substr(0, path.find_first_of(" ?"));
  if (path != "/metrics") {
    return response("404 Not Found", text, "the statistics of this job are at /metrics\n");
  }
  const std::optional<std::string> page = page_();
  if (!page) {
    return response(
        "503 Service Unavailable", text,
        "not all places have answered yet; a place whose workers compute answers as soon "
        "as a task spawns or waits\n");
  }
  return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", *page);
}

}  // namespace apgas::inline v0::launch
