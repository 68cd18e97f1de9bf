// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/base/atomic.hpp>

// Shared ownership with the count inside the object: one pointer a handle, one allocation.
//
//   refs_   written by anybody who holds a reference
//
// Pairs
//   P1  What holders did is visible to the one that destroys the object.
namespace apgas::inline v0::sync {

// Made with one reference, which is its maker's.
class ref_counted {
 public:
  virtual ~ref_counted() = default;
  ref_counted(const ref_counted&) = delete;
  ref_counted& operator=(const ref_counted&) = delete;

  // Context of both: any thread. drop() may destroy the object.
  void retain() const noexcept { refs_.fetch_add(1, base::relaxed); }
  void drop() const noexcept {
    if (refs_.fetch_sub(1, base::acq_rel) == 1) delete this;  // P1
  }

 protected:
  ref_counted() = default;

 private:
  mutable base::atomic<std::uint32_t> refs_{1};
};

// A reference, or none.
template <class T>
class ref {
 public:
  ref() = default;
  // Takes over a reference that the caller has.
  static ref adopt(T* object) noexcept { return ref(object); }
  // Adds one.
  static ref share(T* object) noexcept {
    if (object != nullptr) object->retain();
    return ref(object);
  }

  ref(const ref& other) noexcept : ref(share(other.object_)) {}
  ref(ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  ref(const ref<U>& other) noexcept : ref(share(other.get())) {}
  template <class U>
  ref(ref<U>&& other) noexcept : object_(other.release()) {}
  ref& operator=(ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ref() {
    if (object_ != nullptr) object_->drop();
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // The caller has the reference then.
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit ref(T* object) noexcept : object_(object) {}

  T* object_ = nullptr;
};

}  // namespace apgas::inline v0::sync
