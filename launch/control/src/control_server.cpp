// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apgas/base/local_socket.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/own_threads.hpp>

#include "control_server.hpp"
#include "job_name.hpp"

namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto request_patience = 2s;  // for the request of a tool
constexpr auto reply_patience = 5s;    // for a tool that does not read
constexpr auto places_patience = 1s;   // for the activity of all places
constexpr auto report_patience = 2s;   // for the report of all places
constexpr auto signal_patience = 5s;   // for the same on SIGQUIT
constexpr std::size_t clients_at_most = 16;
constexpr int control_backlog = 16;
constexpr std::string_view trace_request =
    "trace";  // alone, or with " stop", or " start " and a path

base::descriptor new_event() {
  base::descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) throw std::system_error(errno, std::system_category(), "eventfd");
  return made;
}

// Rounded up, so that poll() does not return before the time.
int milliseconds_until(std::chrono::steady_clock::time_point then) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(then - std::chrono::steady_clock::now());
  return static_cast<int>(std::max(left, 0ms).count());
}

std::string path_of_program() {
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return bytes < 0 ? "?" : std::string(path, static_cast<std::size_t>(bytes));
}

// What a request for a report of all places wants; nothing if it is another request.
std::optional<job_explanation::detail> detail_of(std::string_view request) {
  using enum job_explanation::detail;
  if (request == "report of all places") return report;
  if (request == "groups of all places") return groups;
  if (request == "edges of all places") return edges;
  return std::nullopt;
}

}  // namespace

process_facts facts_of_process(int places, bool watchdog) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read at the start
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  return {.job = job_name(variable, getpid()),
          .program = path_of_program(),
          .host = host,
          .started = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count(),
          .places = places,
          .watchdog = watchdog};
}

control_server::control_server(process_facts facts, int place)
    : facts_(std::move(facts)),
      listening_(base::listen_locally(control_address(geteuid(), facts_.job, place, getpid()),
                                      control_backlog)),
      stop_(new_event()),
      quit_(new_event()) {
  clients_.reserve(clients_at_most);
  if (!facts_.watchdog) on_quit_.emplace(quit_.number());
  thread_ = std::thread([this] { serve(); });
}

control_server::~control_server() {
  const std::uint64_t one = 1;
  static_cast<void>(write(stop_.number(), &one, sizeof one));
  thread_.join();
}

void control_server::add(const sync::place_state& place,
                         std::shared_ptr<activity_question> question, job_explanation& explanation,
                         job_trace& trace) {
  const std::lock_guard guard(mutex_);
  places_.insert(std::ranges::upper_bound(places_, place.here, {}, &sync::place_state::here),
                 &place);
  explanations_[&place] = &explanation;
  if (place.here == 0) trace_ = &trace;
  if (question != nullptr) question_ = std::move(question);
}

void control_server::remove(const sync::place_state& place) noexcept {
  const std::lock_guard guard(mutex_);
  std::erase(places_, &place);
  explanations_.erase(&place);
  if (place.here != 0) return;
  question_.reset();
  trace_ = nullptr;
}

void control_server::serve() noexcept {
  const base::own_thread counts;
  prctl(PR_SET_NAME, "apgas-control");
  constexpr std::size_t own = 3;  // descriptors of the server itself
  std::array<pollfd, own + clients_at_most> waited{};
  for (;;) {
    waited[0] = {.fd = stop_.number(), .events = POLLIN, .revents = 0};
    waited[1] = {.fd = listening_.number(), .events = POLLIN, .revents = 0};
    waited[2] = {.fd = quit_.number(), .events = POLLIN, .revents = 0};
    time first = time::max();
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      waited[i + own] = {.fd = clients_[i].connection.number(), .events = POLLIN, .revents = 0};
      first = std::min(first, clients_[i].deadline);
    }
    const int limit = clients_.empty() ? -1 : milliseconds_until(first);
    poll(waited.data(), clients_.size() + own, limit);
    if (waited[0].revents != 0) return;
    if (waited[2].revents != 0) answer_signal();
    const time now = std::chrono::steady_clock::now();
    for (std::size_t i = clients_.size(); i-- != 0;) {
      const bool over =
          waited[i + own].revents != 0 ? is_done(clients_[i]) : clients_[i].deadline <= now;
      if (over) clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waited[1].revents != 0) accept_client();
  }
}

void control_server::answer_signal() noexcept {
  std::uint64_t signals = 0;
  static_cast<void>(!read(quit_.number(), &signals, sizeof signals));
  try {
    std::unique_lock lock(mutex_);
    std::istringstream text(report_of_all(signal_patience, job_explanation::detail::report).text);
    lock.unlock();
    std::string line;
    for (const char* begin = "on SIGQUIT, "; std::getline(text, line); begin = "")
      base::print_line(begin + line);
  } catch (const std::exception&) {
    base::print_line("there is not enough memory for the report that SIGQUIT asks for");
  }
}

// A client beyond the limit displaces the oldest one.
void control_server::accept_client() {
  base::descriptor accepted(
      accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted) {
    // Out of descriptors: the client stays in the queue, so that accept4 would fail at once again.
    pollfd stop{.fd = stop_.number(), .events = POLLIN, .revents = 0};
    poll(&stop, 1, 100);
    return;
  }
  const uid_t user = base::local_peer_of(accepted).user;
  if (user != geteuid() && user != 0) return;
  if (clients_.size() == clients_at_most) clients_.erase(clients_.begin());
  clients_.push_back(
      {std::move(accepted), {}, std::chrono::steady_clock::now() + request_patience});
}

// Reads what has arrived, and answers a complete request. Returns whether the client can go.
bool control_server::is_done(client& from) noexcept {
  std::byte part[512];
  const ssize_t bytes = recv(from.connection.number(), part, sizeof part, 0);
  if (bytes < 0) return errno != EAGAIN && errno != EINTR;
  if (bytes == 0) return true;
  try {
    return take(from, std::span(part, static_cast<std::size_t>(bytes)));
  } catch (const std::exception&) {  // no memory
    return true;
  }
}

bool control_server::take(client& from, std::span<const std::byte> bytes) {
  using enum control_request::state;
  const control_request::state seen = from.request.add(bytes);
  if (seen == incomplete) return false;
  if (seen == malformed) return true;
  control_status status = control_status::other_version;
  std::string body;
  if (seen == complete) {
    try {
      status = control_status::done;
      body = answer(from.request.text(), status);
    } catch (const std::exception& failure) {
      status = control_status::failed;
      body = failure.what();
    }
  }
  reply(from.connection, status, body);
  return true;
}

void control_server::reply(const base::descriptor& to, control_status status,
                           std::string_view body) const {
  const std::string all = control_reply(status, body);
  std::string_view rest = all;
  const time end = std::chrono::steady_clock::now() + reply_patience;
  while (!rest.empty()) {
    pollfd waited[] = {{.fd = to.number(), .events = POLLOUT, .revents = 0},
                       {.fd = stop_.number(), .events = POLLIN, .revents = 0}};
    const int left = milliseconds_until(end);
    if (left == 0 || poll(waited, 2, left) <= 0 || waited[1].revents != 0) return;
    const ssize_t bytes = send(to.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (bytes < 0 && errno != EAGAIN) return;
    if (bytes > 0) rest.remove_prefix(static_cast<std::size_t>(bytes));
  }
}

// Requires: mutex_.
std::string control_server::answer_about_trace(std::string_view request) {
  if (trace_ == nullptr) throw std::runtime_error("only place 0, while it runs, has the trace");
  request.remove_prefix(trace_request.size());
  constexpr std::string_view start = " start ";
  if (request == " stop") {
    trace_->ask_stop();
  } else if (request.starts_with(start)) {
    trace_->ask_start(std::string(request.substr(start.size())));
  }
  return trace_answer(trace_->status());
}

// The text is empty if no place runs. Requires: mutex_.
job_explanation::answer control_server::report_of_all(std::chrono::milliseconds limit,
                                                      job_explanation::detail what) {
  const auto first = places_.empty() ? explanations_.end() : explanations_.find(places_[0]);
  if (first == explanations_.end()) return {};
  return first->second->explain(limit, what);
}

std::string control_server::answer(std::string_view request, control_status& status) {
  std::unique_lock lock(mutex_);
  if (request == "summary") return tasks_answer(facts_, places_, false);
  if (request == "report") return tasks_answer(facts_, places_, true);
  if (request == "stacks") return stacks_answer(facts_, places_);
  if (request.starts_with(trace_request)) return answer_about_trace(request);
  if (const auto what = detail_of(request)) {
    const job_explanation::answer all = report_of_all(report_patience, *what);
    if (all.text.empty()) status = control_status::not_now;
    return all.text.empty() ? all.text : explanation_answer(all, *what);
  }
  if (request == "activity") {
    std::vector<place_activity> here;
    here.reserve(places_.size());
    for (const sync::place_state* const each : places_) here.push_back(activity_of(*each));
    return activity_answer(here);
  }
  if (request != "activity of all places") {
    status = control_status::unknown_request;
    return std::string(request);
  }
  // A place that ends closes the question, so that it is asked without the lock.
  const std::shared_ptr<activity_question> question = question_;
  lock.unlock();
  const auto all = question == nullptr ? std::nullopt : question->ask(places_patience);
  if (!all) {
    status = control_status::not_now;
    return {};
  }
  return activity_answer(*all);
}

}  // namespace apgas::inline v0::launch
