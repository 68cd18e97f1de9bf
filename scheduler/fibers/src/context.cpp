// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include "context.hpp"

#if APGAS_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if APGAS_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#if APGAS_SWITCH_BY_BOOST
#include <boost/context/detail/fcontext.hpp>
#endif

#if defined(_LIBCPP_VERSION)  // its library exports the function, but no header declares it
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace apgas::inline v0::scheduler {
namespace {

// Returns the address at which the stack of `f` begins: below its record, and shifted by a number
// of cache lines that differs from fiber to fiber. Otherwise the frames at equal offsets of all
// stacks would compete for the same sets of the caches.
std::byte* stack_top(fiber& f) {
  auto record = reinterpret_cast<std::uintptr_t>(&f);
  const std::uintptr_t number = (record - all_stacks.begin) / (all_stacks.mask + 1);
  return reinterpret_cast<std::byte*>((record - (number % 24) * 64) & ~std::uintptr_t{63});
}

void before_switch([[maybe_unused]] fiber& from, [[maybe_unused]] fiber& to) noexcept {
#if APGAS_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.sanitizer_state, to.stack_bottom, to.stack_bytes);
#endif
#if APGAS_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_state, 0);
#endif
}

void after_switch([[maybe_unused]] fiber& self) noexcept {
#if APGAS_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(self.sanitizer_state, nullptr, nullptr);
#endif
}

}  // namespace

std::uintptr_t* exception_state() noexcept {
  // The Itanium C++ ABI: { __cxa_exception* caughtExceptions; unsigned uncaughtExceptions; }.
  return reinterpret_cast<std::uintptr_t*>(abi::__cxa_get_globals());
}

#if APGAS_SWITCH_BY_BOOST

namespace {
namespace ctx = boost::context::detail;

// The two fibers of a switch. It lies on the stack that is left.
struct switched {
  fiber* from;
  fiber* to;
};

void note_left(ctx::transfer_t t) { static_cast<switched*>(t.data)->from->stack_pointer = t.fctx; }

void start(ctx::transfer_t t) {
  fiber* self = static_cast<switched*>(t.data)->to;
  note_left(t);
  auto entry = reinterpret_cast<void (*)(fiber*)>(self->base);
  self->base = nullptr;
  entry(self);
}
}  // namespace

void make_context(fiber& f, void (*entry)(fiber*)) noexcept {
  f.base = reinterpret_cast<slot*>(entry);  // start() reads it once
  std::byte* top = stack_top(f);
  const auto bytes = static_cast<std::size_t>(top - static_cast<const std::byte*>(f.stack_bottom));
  f.stack_pointer = ctx::make_fcontext(top, bytes, start);
#if APGAS_THREAD_SANITIZER
  f.sanitizer_state = __tsan_create_fiber(0);
#endif
#if APGAS_ADDRESS_SANITIZER
  __lsan_register_root_region(f.stack_bottom, f.stack_bytes);
#endif
}

void switch_context(fiber& from, fiber& to) noexcept {
  before_switch(from, to);
  switched pair{&from, &to};
  note_left(ctx::jump_fcontext(to.stack_pointer, &pair));
  after_switch(from);
}

#else

// Saves the callee-saved registers on the stack, stores the stack pointer to the address in the
// first argument, loads the second argument as the new stack pointer, and restores the registers
// from there. The saved layout is the same on both stacks, so the call frame information is right
// before and after the switch.
extern "C" void apgas_switch_stack(void** save, void* enter) noexcept;
extern "C" void apgas_enter_fiber() noexcept;

#if defined(__x86_64__)
asm(R"(
.pushsection .text
.p2align 4
.globl apgas_switch_stack
.hidden apgas_switch_stack
.type apgas_switch_stack, @function
apgas_switch_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r13, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r14, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r15, 0
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r15
  popq %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r14
  popq %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r13
  popq %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  popq %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbp
  ret
  .cfi_endproc
.size apgas_switch_stack, .-apgas_switch_stack

.p2align 4
.globl apgas_enter_fiber
.hidden apgas_enter_fiber
.type apgas_enter_fiber, @function
apgas_enter_fiber:
  .cfi_startproc
  .cfi_undefined %rip
  endbr64
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size apgas_enter_fiber, .-apgas_enter_fiber
.popsection
)");

void make_context(fiber& f, void (*entry)(fiber*)) noexcept {
  auto** sp = reinterpret_cast<void**>(stack_top(f));
  sp -= 2;  // apgas_enter_fiber calls with an aligned stack pointer
  *--sp = reinterpret_cast<void*>(&apgas_enter_fiber);
  *--sp = nullptr;                         // rbp
  *--sp = nullptr;                         // rbx
  *--sp = &f;                              // r12
  *--sp = reinterpret_cast<void*>(entry);  // r13
  *--sp = nullptr;                         // r14
  *--sp = nullptr;                         // r15
  f.stack_pointer = sp;
}
#else
asm(R"(
.pushsection .text
.p2align 4
.globl apgas_switch_stack
.hidden apgas_switch_stack
.type apgas_switch_stack, %function
apgas_switch_stack:
  .cfi_startproc
  stp x29, x30, [sp, #-160]!
  .cfi_adjust_cfa_offset 160
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  .cfi_adjust_cfa_offset -160
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
.size apgas_switch_stack, .-apgas_switch_stack

.p2align 4
.globl apgas_enter_fiber
.hidden apgas_enter_fiber
.type apgas_enter_fiber, %function
apgas_enter_fiber:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #1
  .cfi_endproc
.size apgas_enter_fiber, .-apgas_enter_fiber
.popsection
)");

void make_context(fiber& f, void (*entry)(fiber*)) noexcept {
  auto** sp = reinterpret_cast<void**>(stack_top(f)) - 20;
  sp[0] = nullptr;                                      // x29
  sp[1] = reinterpret_cast<void*>(&apgas_enter_fiber);  // x30
  sp[2] = &f;                                           // x19
  sp[3] = reinterpret_cast<void*>(entry);               // x20
  f.stack_pointer = sp;
}
#endif

void switch_context(fiber& from, fiber& to) noexcept {
  before_switch(from, to);
  apgas_switch_stack(&from.stack_pointer, to.stack_pointer);
  after_switch(from);
}

#endif

void drop_context([[maybe_unused]] fiber& f) noexcept {
#if APGAS_THREAD_SANITIZER
  __tsan_destroy_fiber(f.sanitizer_state);
#endif
#if APGAS_ADDRESS_SANITIZER
  __lsan_unregister_root_region(f.stack_bottom, f.stack_bytes);
  // The frames of the scheduling loop on this stack never return, so their red zones are still
  // poisoned. The next frames on this stack must not find them so.
  const auto* top = static_cast<const std::byte*>(f.stack_bottom) + f.stack_bytes;
  const auto* left = static_cast<const std::byte*>(f.stack_pointer);
  __asan_unpoison_memory_region(left, static_cast<std::size_t>(top - left));
#endif
  f.sanitizer_state = nullptr;
}

void adopt_thread([[maybe_unused]] fiber& f) noexcept {
#if APGAS_THREAD_SANITIZER
  f.sanitizer_state = __tsan_get_current_fiber();
#endif
#if APGAS_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &f.stack_bytes);
    f.stack_bottom = bottom;
    pthread_attr_destroy(&attributes);
  }
#endif
}

void context_entered(fiber& self) noexcept { after_switch(self); }

}  // namespace apgas::inline v0::scheduler
