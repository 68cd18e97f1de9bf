// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/place_group.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/place_state.hpp>

// The objects of a place that handles name from everywhere: those of global_ref and place_local.
//
// A name is given by one place, its home. A global_ref has an object there; a place_local has one
// under the same name at each place of its group. Per home there is a list of slots, found by
// index, in chunks that stay where they are, so that looking up takes no lock.
//
//                written by                                    read by
//   chunks       lock holder, once each                        anybody
//   generation   lock holder                                   anybody
//   object       lock holder, while the generation is not      who saw the generation of its handle
//                one that a handle has
//
// Invariants
//   I1  A generation is given once in the life of the process, so a stale handle is always noticed;
//       only a use at the same time as the end of the object is the user's race. It begins with 31
//       random bits of the process, so that one of another job is noticed as well.
//
// Pairs
//   P1  The slots of a chunk are made for who sees the chunk.
//   P2  The object is complete for who sees its generation.
namespace apgas::inline v0::remote {

// A name; the handles are this. Generation 0: none.
struct global_id {
  std::int32_t home = 0;
  std::uint32_t index = 0;
  std::uint64_t generation = 0;

  bool operator==(const global_id&) const = default;
};

// What is behind a name at one place: the object and how it ends.
struct global_object {
  void* object = nullptr;
  void (*end)(void*) noexcept = nullptr;
};

class global_table final : public sync::place_extension {
 public:
  explicit global_table(const sync::place_state& place);
  // Ends what is left.
  ~global_table() override;

  // A new name of this place, and its end: when no place has an object of that name any more.
  // Context: task. Throws: std::bad_alloc.
  global_id reserve();
  void give_back(const global_id& id);

  // The same for a place_local; and the group it was made for, once, before give_back().
  // Throws: illegal_operation when that has been taken.
  global_id reserve_for(const place_group& group);
  place_group take_group(const global_id& id);

  // Gives the name an object here; takes it away, to be ended by the caller (null: there is none).
  // Context: task. Throws: std::bad_alloc.
  void bind(const global_id& id, global_object what);
  global_object unbind(const global_id& id) noexcept;

  // The object, or null. Context: any thread. Cost: four dependent loads.
  void* find(const global_id& id) const noexcept {
    const slot* s = slot_at(id);
    if (s == nullptr || s->generation.load(base::acquire) != id.generation) return nullptr;  // P2
    return s->what.object;
  }
  // Whether an object of that name has been here and is gone.
  bool is_stale(const global_id& id) const noexcept;

 private:
  struct slot {
    base::atomic<std::uint64_t> generation{0};  // 0: nothing is here
    global_object what;
    std::uint64_t newest = 0;  // generation ever here; under the lock
  };
  // Chunk k has 64 << k slots, which is enough for all indices.
  static constexpr unsigned first_chunk_bits = 6;
  static constexpr std::size_t most_chunks = 32 - first_chunk_bits;
  struct slot_list {
    std::array<base::atomic<slot*>, most_chunks> chunks{};
  };

  static std::pair<std::size_t, std::size_t> chunk_of(std::uint32_t index) noexcept;
  const slot* slot_at(const global_id& id) const noexcept;
  slot& make_slot(const global_id& id);

  const int here_;
  mutable base::spin_lock lock_;
  std::vector<base::atomic<slot_list*>> lists_;  // by home
  std::vector<std::uint32_t> free_;              // indices of this home
  std::uint32_t next_index_ = 0;
  std::unordered_map<std::uint64_t, place_group> groups_;  // of this home, by generation
};

// Of the place of the running task.
inline global_table& global_table_of(const scheduler::fiber& self) noexcept {
  return *static_cast<global_table*>(sync::place_of(self).globals);
}
// Context: task.
inline global_table& global_table_here() noexcept {
  return global_table_of(*scheduler::current_fiber());
}

template <class T>
void end_object(void* object) noexcept {
  delete static_cast<T*>(object);
}

// Why find() failed, for the handle type `what`. Context: task.
[[noreturn]] void throw_no_object(const scheduler::fiber& self, const global_id& id,
                                  const char* what);

}  // namespace apgas::inline v0::remote
