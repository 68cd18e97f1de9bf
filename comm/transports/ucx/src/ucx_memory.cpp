// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include <apgas/base/assert.hpp>

#include "ucx_memory.hpp"

namespace apgas::inline v0::comm {

namespace {

class ucx_segment final : public shared_segment {
 public:
  ucx_segment(ucp_context_h context, std::size_t bytes) : context_(context) {
    ucp_mem_map_params_t how{};
    how.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    how.length = bytes;
    how.flags = UCP_MEM_MAP_ALLOCATE;
    if (ucp_mem_map(context, &how, &handle_) != UCS_OK) throw std::bad_alloc();
    ucp_mem_attr_t found{};
    found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
    APGAS_ASSERT(ucp_mem_query(handle_, &found) == UCS_OK);
    memory_ = {static_cast<std::byte*>(found.address), found.length};
    std::memset(memory_.data(), 0, memory_.size());
    pack();
  }
  ~ucx_segment() override { ucp_mem_unmap(context_, handle_); }

  std::span<std::byte> memory() noexcept override { return memory_; }
  std::span<const std::byte> key() const noexcept override { return key_; }

 private:
  // The key: the address in this process, followed by UCX's key.
  void pack() {
    void* packed = nullptr;
    std::size_t bytes = 0;
    APGAS_ASSERT(ucp_rkey_pack(context_, handle_, &packed, &bytes) == UCS_OK);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    key_.resize(sizeof address + bytes);
    std::memcpy(key_.data(), &address, sizeof address);
    std::memcpy(key_.data() + sizeof address, packed, bytes);
    ucp_rkey_buffer_release(packed);
  }

  ucp_context_h context_;
  ucp_mem_h handle_ = nullptr;
  std::span<std::byte> memory_;
  std::vector<std::byte> key_;
};

class ucx_attached final : public attached_segment {
 public:
  ucx_attached(ucp_rkey_h key, std::byte* memory) noexcept : key_(key), memory_(memory) {}
  ~ucx_attached() override { ucp_rkey_destroy(key_); }

  std::byte* memory() noexcept override { return memory_; }

 private:
  ucp_rkey_h key_;
  std::byte* memory_;
};

}  // namespace

std::unique_ptr<shared_segment> make_ucx_segment(ucp_context_h context, std::size_t bytes) {
  return std::make_unique<ucx_segment>(context, bytes);
}

std::unique_ptr<attached_segment> attach_ucx_segment(ucp_ep_h home,
                                                     std::span<const std::byte> key) {
  std::uintptr_t address = 0;
  APGAS_ASSERT(key.size() > sizeof address, "a segment key is not one of UCX");
  std::memcpy(&address, key.data(), sizeof address);
  ucp_rkey_h unpacked = nullptr;
  if (ucp_ep_rkey_unpack(home, key.data() + sizeof address, &unpacked) != UCS_OK) return nullptr;
  void* mapped = nullptr;
  if (ucp_rkey_ptr(unpacked, address, &mapped) != UCS_OK) {
    ucp_rkey_destroy(unpacked);
    return nullptr;
  }
  return std::make_unique<ucx_attached>(unpacked, static_cast<std::byte*>(mapped));
}

}  // namespace apgas::inline v0::comm
