// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/place_group.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/place_state.hpp>

// The table of the objects of one place that handles name from everywhere: those of global_ref and
// of place_local.
//
// A name is given by one place, its home. The object of a global_ref is at the home; a place_local
// has one object under the same name at each place of its group. For each home, the table has a
// list of slots, found by index. The slots are allocated in chunks that never move, so that a
// lookup takes no lock.
//
//                written by                                 read by
//   chunks       the lock holder, once each                 any thread
//   generation   the lock holder                            any thread
//   object       the lock holder, while the slot does not   a thread that has read the generation
//                have the generation of a handle            of its handle
//
// Invariants
//   I1  A process gives each generation only once, so a stale handle is always detected. Only using
//       an object while it is being destroyed is a race, for which the program is responsible.
//       Generations begin with 31 random bits of the process, so that a handle of another job is
//       detected as well.
//
// Pairs
//   P1  A thread that reads a non-null chunk pointer sees initialised slots.
//   P2  A thread that reads the generation of its handle from a slot sees the complete object.
namespace apgas::inline v0::remote {

// The name of an object, which is all that a handle holds. Generation 0 means an empty handle.
struct global_id {
  std::int32_t home = 0;
  std::uint32_t index = 0;
  std::uint64_t generation = 0;

  bool operator==(const global_id&) const = default;
};

// The object that a name has at one place, and the function that destroys it.
struct global_object {
  void* object = nullptr;
  void (*end)(void*) noexcept = nullptr;
};

// The table itself; each place has one.
class global_table final : public sync::place_extension {
 public:
  explicit global_table(const sync::place_state& place);
  // Destroys all objects that are left.
  ~global_table() override;

  // reserve() returns a new name with this place as home. give_back() makes its index free again;
  // no place may have an object of that name any more.
  // Context: task.
  // Throws: std::bad_alloc (reserve()).
  APGAS_API global_id reserve();
  APGAS_API void give_back(const global_id& id);

  // reserve_for() is reserve() for a place_local, and keeps its group. take_group() returns that
  // group, once, before give_back().
  // Throws: std::bad_alloc; illegal_operation if the group was taken before.
  APGAS_API global_id reserve_for(const place_group& group);
  APGAS_API place_group take_group(const global_id& id);

  // bind() gives the name an object at this place. unbind() removes and returns it, for the caller
  // to destroy; it is null if there is none.
  // Context: task.
  // Throws: std::bad_alloc (bind()).
  APGAS_API void bind(const global_id& id, global_object what);
  APGAS_API global_object unbind(const global_id& id) noexcept;

  // The object of this name at this place, or null.
  // Context: any thread.
  // Cost: four dependent loads.
  void* find(const global_id& id) const noexcept {
    const slot* s = slot_at(id);
    if (s == nullptr || s->generation.load(base::acquire) != id.generation) return nullptr;  // P2
    return s->what.object;
  }
  // Whether this place has had an object of this name that is gone.
  bool is_stale(const global_id& id) const noexcept;

 private:
  struct slot {
    base::atomic<std::uint64_t> generation{0};  // 0: no object
    global_object what;
    std::uint64_t newest = 0;  // the newest generation it has had; under the lock
  };
  // Chunk k has 64 << k slots; together they suffice for every 32-bit index.
  static constexpr unsigned first_chunk_bits = 6;
  static constexpr std::size_t most_chunks = 32 - first_chunk_bits;
  struct slot_list {
    std::array<base::atomic<slot*>, most_chunks> chunks{};
  };

  static std::pair<std::size_t, std::size_t> chunk_of(std::uint32_t index) noexcept;
  APGAS_API const slot* slot_at(const global_id& id) const noexcept;
  slot& make_slot(const global_id& id);

  const int here_;
  mutable base::spin_lock lock_;
  std::vector<base::atomic<slot_list*>> lists_;  // by the number of the home
  std::vector<std::uint32_t> free_;              // free indices of this home
  std::uint32_t next_index_ = 0;
  std::unordered_map<std::uint64_t, place_group> groups_;  // of this home, by generation
};

// The table of the place that the given task runs at.
inline global_table& global_table_of(const scheduler::fiber& self) noexcept {
  return *static_cast<global_table*>(sync::place_of(self).globals);
}
// The same for the calling task.
// Context: task.
inline global_table& global_table_here() noexcept {
  return global_table_of(*scheduler::current_fiber());
}

template <class T>
void end_object(void* object) noexcept {
  delete static_cast<T*>(object);
}

// Throws the exception that explains why find() returned null. `what` is the type of the handle.
// Context: task.
APGAS_API [[noreturn]] void throw_no_object(const scheduler::fiber& self, const global_id& id,
                                            const char* what);

}  // namespace apgas::inline v0::remote
