// SPDX-License-Identifier: Apache-2.0
#include <new>

#include <apgas/exception_types.hpp>
#include <apgas/exceptions.hpp>

#include "errors.hpp"

namespace apgas::inline v0::launch {
namespace {

const exception_types<unknown_function, unended_finish> sent_between_places;

// The code that all exceptions of a finish have in common.
int common_error_code(const multiple_exceptions& all) noexcept {
  int common = 0;
  for (const task_exception& each : all) {
    const int code = error_code_of(each.exception());
    if (common != 0 && code != common) return APGAS_EEXCEPTION;
    common = code;
  }
  return common;
}

}  // namespace

int error_code_of(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const multiple_exceptions& all) {
    return common_error_code(all);
  } catch (const unknown_function&) {
    return APGAS_EFUNCTION;
  } catch (const unended_finish&) {
    return APGAS_EFINISH;
  } catch (const std::bad_alloc&) {
    return APGAS_ENOMEM;
  } catch (...) {
    return APGAS_EEXCEPTION;
  }
}

}  // namespace apgas::inline v0::launch

const char* apgas_strerror(int code) noexcept {
  switch (code) {
    case 0:
      return "no error";
    case APGAS_EINVAL:
      return "an argument is a null pointer or not a possible value";
    case APGAS_ENOMEM:
      return "there is not enough memory";
    case APGAS_ENOTASK:
      return "the function was called outside a task; call it in the function of apgas_run";
    case APGAS_EINTASK:
      return "the function was called by a task; call it on a thread outside tasks";
    case APGAS_ENOTSTARTED:
      return "no program is active; call apgas_start first";
    case APGAS_EACTIVE:
      return "a program is active in this process already; call apgas_stop first";
    case APGAS_ESTART:
      return "the program cannot start; a line on standard error says why";
    case APGAS_EPLACE:
      return "there is no such place, or the call is not allowed at this place";
    case APGAS_ETOOBIG:
      return "a block or a result is larger than APGAS_MAX_BLOCK; send it in parts";
    case APGAS_EFUNCTION:
      return "the other place does not have the function; load its library at every place";
    case APGAS_EEXCEPTION:
      return "a C++ exception left a callback or a task";
    case APGAS_EFINISH:
      return "apgas_finish_begin and apgas_finish_end do not match; end the innermost finish first";
    case APGAS_EBUSY:
      return "the object is locked or in use";
    case APGAS_ENOTLOCKED:
      return "the object is not locked; lock it first";
    case APGAS_ECRITICAL:
      return "the function was called inside a critical section; call it after the section";
    default:
      return "an unknown code";
  }
}
