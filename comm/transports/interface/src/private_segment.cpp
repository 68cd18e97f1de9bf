// SPDX-License-Identifier: Apache-2.0

// Segments of ordinary memory, for ranks of one process and for ranks that cannot map each other's
// memory.

#include <cstring>
#include <new>

#include <apgas/base/assert.hpp>
#include <apgas/comm/remote_memory.hpp>

namespace apgas::inline v0::comm {

namespace {

constexpr std::align_val_t page{4096};

class private_segment final : public shared_segment {
 public:
  explicit private_segment(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, page))), bytes_(bytes) {
    std::memset(memory_, 0, bytes_);
    std::memcpy(key_, &memory_, sizeof memory_);
  }
  ~private_segment() override { ::operator delete(memory_, page); }

  std::span<std::byte> memory() noexcept override { return {memory_, bytes_}; }
  std::span<const std::byte> key() const noexcept override { return key_; }

 private:
  std::byte* memory_;
  std::size_t bytes_;
  std::byte key_[sizeof(std::byte*)];
};

class private_attached final : public attached_segment {
 public:
  explicit private_attached(std::byte* memory) noexcept : memory_(memory) {}
  std::byte* memory() noexcept override { return memory_; }

 private:
  std::byte* memory_;
};

}  // namespace

std::unique_ptr<shared_segment> make_private_segment(std::size_t bytes) {
  return std::make_unique<private_segment>(bytes);
}

std::unique_ptr<attached_segment> attach_private_segment(std::span<const std::byte> key) {
  std::byte* memory = nullptr;
  APGAS_ASSERT(key.size() == sizeof memory, "a segment key is not one of this process");
  std::memcpy(&memory, key.data(), sizeof memory);
  return std::make_unique<private_attached>(memory);
}

}  // namespace apgas::inline v0::comm
