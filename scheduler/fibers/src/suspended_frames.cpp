// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <unwind.h>

#include "context.hpp"
#include "suspended_frames.hpp"

namespace apgas::inline v0::scheduler {

#if APGAS_SWITCH_BY_BOOST

std::vector<std::uintptr_t> frames_of_suspended(const fiber&, std::size_t) { return {}; }

#else

// Calls _Unwind_Backtrace(note, argument). Its call frame information says that it was called with
// the registers that apgas_switch_stack (context.cpp) has saved at `saved`. So the unwinder goes
// from here to the frames of the suspended fiber.
extern "C" void apgas_unwind_suspended(void* saved, _Unwind_Trace_Fn note, void* argument);

#if defined(__x86_64__)
asm(R"(
.pushsection .text
.p2align 4
.globl apgas_unwind_suspended
.hidden apgas_unwind_suspended
.type apgas_unwind_suspended, @function
apgas_unwind_suspended:
  .cfi_startproc
  endbr64
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  movq %rdi, %rbx
  movq %rsi, %rdi
  movq %rdx, %rsi
  .cfi_remember_state
  .cfi_def_cfa %rbx, 56
  .cfi_offset %rip, -8
  .cfi_offset %rbp, -16
  .cfi_offset %rbx, -24
  .cfi_offset %r12, -32
  .cfi_offset %r13, -40
  .cfi_offset %r14, -48
  .cfi_offset %r15, -56
  callq _Unwind_Backtrace@PLT
  nop
  .cfi_restore_state
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
.size apgas_unwind_suspended, .-apgas_unwind_suspended
.popsection
)");
#else
asm(R"(
.pushsection .text
.p2align 4
.globl apgas_unwind_suspended
.hidden apgas_unwind_suspended
.type apgas_unwind_suspended, %function
apgas_unwind_suspended:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  str x19, [sp, #16]
  .cfi_rel_offset x19, 16
  mov x19, x0
  mov x0, x1
  mov x1, x2
  .cfi_remember_state
  .cfi_def_cfa x19, 160
  .cfi_offset x29, -160
  .cfi_offset x30, -152
  .cfi_offset x19, -144
  .cfi_offset x20, -136
  .cfi_offset x21, -128
  .cfi_offset x22, -120
  .cfi_offset x23, -112
  .cfi_offset x24, -104
  .cfi_offset x25, -96
  .cfi_offset x26, -88
  .cfi_offset x27, -80
  .cfi_offset x28, -72
  bl _Unwind_Backtrace
  nop
  .cfi_restore_state
  ldr x19, [sp, #16]
  .cfi_restore x19
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
.size apgas_unwind_suspended, .-apgas_unwind_suspended
.popsection
)");
#endif

namespace {

struct noted_frames {
  std::vector<std::uintptr_t> addresses;
  std::size_t most;
  bool inside = false;  // the frame of apgas_unwind_suspended is passed
};

// The vector has room, so that nothing is thrown through the unwinder.
_Unwind_Reason_Code note_suspended(_Unwind_Context* context, void* argument) {
  auto& noted = *static_cast<noted_frames*>(argument);
  const std::uintptr_t return_address = _Unwind_GetIP(context);
  if (!std::exchange(noted.inside, true)) return _URC_NO_REASON;
  if (return_address == 0 || noted.addresses.size() == noted.most) return _URC_END_OF_STACK;
  noted.addresses.push_back(return_address - 1);
  return _URC_NO_REASON;
}

}  // namespace

std::vector<std::uintptr_t> frames_of_suspended(const fiber& f, std::size_t most) {
  noted_frames noted{.addresses = {}, .most = most};
  noted.addresses.reserve(most);
  apgas_unwind_suspended(f.stack_pointer, note_suspended, &noted);
  return std::move(noted.addresses);
}

#endif

}  // namespace apgas::inline v0::scheduler
