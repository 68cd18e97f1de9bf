// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a job says on standard error: handed on as it comes, and looked at, whether a place has said
// why the job ends. Then its launcher need not.
//
// Without a thread: the kernel tells a child that its parent is gone once for each thread of that,
// and at a second signal Open MPI leaves its places behind.

#include <string>

namespace apgas::inline v0::launch {

// Whether that line says why a job ends. launch/tools/launchers.py has the same words.
bool tells_the_end(const std::string& line);

// Which of this process's outputs goes to a disk without space, "output" or "error": launchers drop
// what they cannot write. Empty: none. As launch/tools/full_disk.py.
std::string full_output();

class job_messages {
 public:
  // Takes over the end of a pipe that is read.
  explicit job_messages(int source);
  job_messages(const job_messages&) = delete;
  job_messages& operator=(const job_messages&) = delete;
  ~job_messages();

  // To be polled; -1 when all has come.
  int source() const noexcept { return source_; }
  // Hands on what is there.
  void hand_on();
  // After the job: waits for the rest, but not for ever, since a process of the program may live
  // on.
  void finish();

  bool told_the_end() const noexcept { return told_; }

 private:
  void look_at(const char* begin, const char* end);

  int source_;
  std::string line_;
  bool told_ = false;
};

}  // namespace apgas::inline v0::launch
