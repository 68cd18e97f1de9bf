// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <string>

#include <apgas/base/log.hpp>
#include <apgas/place.hpp>
#include <apgas/run.hpp>

#include "callbacks.hpp"
#include "program.hpp"

namespace apgas::inline v0::launch {
namespace {

// The program of this process and its lock. They are never destroyed, because a program that exits
// without apgas_stop still has workers then.
struct program_holder {
  std::mutex lock;
  std::shared_ptr<c_program> program;
};

program_holder& holder() {
  static auto* const only = new program_holder;
  return *only;
}

// Copies what the caller knows of the struct. Returns false if that is not possible.
bool read_config(const apgas_config* given, apgas_config& known) {
  known = APGAS_CONFIG_INIT;
  if (given == nullptr) return true;
  const std::size_t size = given->size == 0 ? sizeof known : given->size;
  if (size < sizeof known) return false;
  std::memcpy(&known, given, sizeof known);
  // A program that was compiled with a later version may not use fields that this one does not
  // know.
  const std::span all(reinterpret_cast<const unsigned char*>(given), size);
  return std::ranges::all_of(all.subspan(sizeof known), [](unsigned char c) { return c == 0; }) &&
         known.places >= 0 && known.workers >= 0 && known.argc >= 0 &&
         (known.argc == 0 || known.argv != nullptr);
}

// Returns whether all of the further settings are "NAME=VALUE".
bool add_settings(config& to, const char* const* settings) {
  for (; settings != nullptr && *settings != nullptr; ++settings) {
    const char* const equals = std::strchr(*settings, '=');
    if (equals == nullptr) return false;
    to.more[std::string(*settings, equals)] = equals + 1;
  }
  return true;
}

// Starts the program; returns 0 or a code.
int start(const apgas_config& given) {
  config settings{.places = given.places,
                  .workers = given.workers,
                  .transport = given.transport == nullptr ? "" : given.transport,
                  .stack_bytes = given.stack_bytes,
                  .serve_and_exit = given.serve_and_exit != 0};
  if (!add_settings(settings, given.settings)) return APGAS_EINVAL;
  try {
    auto started = std::make_shared<c_program>(given.argc, given.argv, settings);
    const std::lock_guard hold(holder().lock);
    holder().program = std::move(started);
    return 0;
  } catch (const launch_error& failure) {
    if (detail::reports_for_job()) base::print_line(failure.what());
    return APGAS_ESTART;
  } catch (const illegal_operation&) {
    return APGAS_EACTIVE;
  }
}

// Ends the program; returns 0 or a code.
int stop(c_program& program) {
  try {
    const int code = program.own.place_id() == 0 ? program.own.stop(0) : program.own.serve();
    return code == 0 ? 0 : APGAS_EEXCEPTION;
  } catch (const illegal_operation&) {  // in a forked process, which does not have the program
    return APGAS_ENOTSTARTED;
  }
}

// Runs a function as a task of the program; returns 0 or a code.
int run(c_program& program, void (*f)(void*), void* arg) {
  if (program.own.place_id() != 0) return APGAS_EPLACE;
  try {
    program.own.run([f, arg] { call_back([f, arg] { f(arg); }); });
    return 0;
  } catch (const illegal_operation&) {  // its end has begun, or this is a forked process
    return APGAS_ENOTSTARTED;
  }
}

}  // namespace

c_program::c_program(int argc, char** argv, const config& settings)
    : own(argv == nullptr ? runtime(settings) : runtime(argc, argv, settings)) {
  if (own.place_id() == 0) workers = own.run([] { return num_workers(); });
}

std::shared_ptr<c_program> active_c_program() noexcept {
  const std::lock_guard hold(holder().lock);
  return holder().program;
}

}  // namespace apgas::inline v0::launch

int apgas_start(const apgas_config* config) noexcept {
  if (apgas::scheduler::on_fiber()) return APGAS_EINTASK;
  int code = 0;
  const int thrown = apgas::launch::call_guarded([&] {
    apgas_config known;
    code = apgas::launch::read_config(config, known) ? apgas::launch::start(known) : APGAS_EINVAL;
  });
  return thrown != 0 ? thrown : code;
}

int apgas_stop() noexcept {
  if (apgas::scheduler::on_fiber()) return APGAS_EINTASK;
  const auto program = apgas::launch::active_c_program();
  if (program == nullptr) return APGAS_ENOTSTARTED;
  int code = 0;
  const int thrown = apgas::launch::call_guarded([&] { code = apgas::launch::stop(*program); });
  const std::lock_guard hold(apgas::launch::holder().lock);
  if (apgas::launch::holder().program == program) apgas::launch::holder().program.reset();
  return thrown != 0 ? thrown : code;
}

int apgas_run(void (*f)(void*), void* arg) noexcept {
  if (apgas::scheduler::on_fiber()) return apgas_finish(f, arg);
  if (f == nullptr) return APGAS_EINVAL;
  const auto program = apgas::launch::active_c_program();
  if (program == nullptr) return APGAS_ENOTSTARTED;
  int code = 0;
  const int thrown =
      apgas::launch::call_guarded([&] { code = apgas::launch::run(*program, f, arg); });
  return thrown != 0 ? thrown : code;
}
