// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>
#include <vector>

#include <apgas/comm/loaded_object.hpp>

#include "functions.hpp"

namespace apgas::inline v0::launch {
namespace {

// The loaded objects as they were last seen.
class object_table {
 public:
  static object_table& instance() {
    static auto* const table = new object_table;  // tasks may run while static objects end
    return *table;
  }

  // Returns a copy of what `of` needs of the first object that matches.
  template <class Match, class Result>
  std::optional<Result> find(Match matches, Result (*of)(const comm::loaded_object&)) {
    const std::lock_guard hold(mutex_);
    const std::uint64_t generation = comm::loading_generation();
    if (generation != std::exchange(seen_, generation)) objects_ = comm::all_loaded_objects();
    for (const comm::loaded_object& object : objects_) {
      if (matches(object)) return of(object);
    }
    return std::nullopt;
  }

 private:
  object_table() = default;

  std::mutex mutex_;  // nothing suspends while it is locked
  std::uint64_t seen_ = 0;
  std::vector<comm::loaded_object> objects_;
};

bool holds_code(const comm::loaded_object& object, std::uint64_t address) noexcept {
  return object.code_begin <= address && address < object.code_end;
}

}  // namespace

std::optional<sent_function> find_name(any_function function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  std::optional<sent_function> name = object_table::instance().find(
      [address](const comm::loaded_object& object) { return holds_code(object, address); },
      +[](const comm::loaded_object& object) {
        return sent_function{.object = object.identity, .offset = object.base};
      });
  if (name) name->offset = address - name->offset;
  return name;
}

any_function find_function(const sent_function& name) {
  const std::optional<std::uint64_t> base = object_table::instance().find(
      [&name](const comm::loaded_object& object) {
        return object.identity == name.object && holds_code(object, object.base + name.offset);
      },
      +[](const comm::loaded_object& object) { return std::uint64_t{object.base}; });
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a name has an offset instead of an address
  return base ? reinterpret_cast<any_function>(*base + name.offset) : nullptr;
}

}  // namespace apgas::inline v0::launch
