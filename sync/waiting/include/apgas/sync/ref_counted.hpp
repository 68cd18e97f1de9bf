// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/base/atomic.hpp>

// Shared ownership with the reference count inside the object, so that a handle is one pointer and
// an object is one allocation.
//
//   refs_   written by every thread that holds a reference
//
// Pairs
//   P1  The thread that destroys the object sees what the other holders did before they dropped
//       their references.
namespace apgas::inline v0::sync {

// Base class of shared objects. An object is created with one reference, which its creator holds.
class ref_counted {
 public:
  virtual ~ref_counted() = default;
  ref_counted(const ref_counted&) = delete;
  ref_counted& operator=(const ref_counted&) = delete;

  // Adds a reference, and drops one. Dropping the last reference destroys the object.
  // Context: any thread.
  void retain() const noexcept { refs_.fetch_add(1, base::relaxed); }
  void drop() const noexcept {
    if (refs_.fetch_sub(1, base::acq_rel) == 1) delete this;  // P1
  }

 protected:
  ref_counted() = default;

 private:
  mutable base::atomic<std::uint32_t> refs_{1};
};

// A handle that holds one reference, or none.
template <class T>
class ref {
 public:
  ref() = default;
  // Takes over a reference that the caller holds.
  static ref adopt(T* object) noexcept { return ref(object); }
  // Adds a reference of its own. A null pointer gives an empty handle.
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
  // Gives the reference to the caller and leaves the handle empty.
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit ref(T* object) noexcept : object_(object) {}

  T* object_ = nullptr;
};

}  // namespace apgas::inline v0::sync
