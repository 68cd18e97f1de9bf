// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_segment.hpp"

namespace apgas::inline v0::comm {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr std::size_t in_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// The offset of the first ring: header and positions come before it.
constexpr std::size_t rings_begin(std::size_t places) noexcept {
  return in_pages(sizeof(segment_header) + places * sizeof(ring_positions));
}

std::size_t ring_bytes(std::size_t places) noexcept { return ring_capacity(places) + ring_slack; }

// The offset of the shared area.
std::size_t area_begin(std::size_t places) noexcept {
  return rings_begin(places) + in_pages(places * ring_bytes(places));
}

std::string error_of(const std::string& call) {
  return fmt::format("{}: {}", call, std::system_category().message(errno));
}

// Opens a file descriptor of another process. The new one is independent of it.
int open_of_process(const segment_offer& of, std::uint32_t number, int flags) {
  return open(fmt::format("/proc/{}/fd/{}", of.process, number).c_str(),
              flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

// Whether the file has the size and the seals of a segment.
bool is_segment(int file, std::size_t bytes) noexcept {
  struct stat found{};
  return fstat(file, &found) == 0 && std::cmp_equal(found.st_size, bytes) &&
         (fcntl(file, F_GET_SEALS) & seals) == seals;
}

// The mappings of the segments that places of this process own.
class own_mappings {
 public:
  void add(const segment_offer& offer, std::size_t places,
           const std::shared_ptr<std::byte>& mapping) {
    const std::scoped_lock guard(lock_);
    std::erase_if(all_, [](const entry& each) { return each.mapping.expired(); });
    all_.push_back({offer, places, mapping});
  }
  // Null if no place of this process has made that offer for that many places.
  std::shared_ptr<std::byte> find(const segment_offer& offer, std::size_t places) {
    const std::scoped_lock guard(lock_);
    const auto found = std::ranges::find_if(
        all_, [&](const entry& each) { return each.offer == offer && each.places == places; });
    return found == all_.end() ? nullptr : found->mapping.lock();
  }

 private:
  struct entry {
    segment_offer offer;
    std::size_t places;
    std::weak_ptr<std::byte> mapping;
  };
  std::mutex lock_;
  std::vector<entry> all_;
};

own_mappings& mappings_of_process() {
  static own_mappings all;
  return all;
}

}  // namespace

std::size_t ring_capacity(std::size_t places) noexcept {
  constexpr std::size_t least = 2 * longest_record;
  constexpr std::size_t most = std::size_t{256} << 10;
  constexpr std::size_t all = std::size_t{16} << 20;
  return std::clamp(std::bit_floor(all / places), least, most);
}

std::size_t segment_bytes(std::size_t places) noexcept {
  return area_begin(places) + shared_area_bytes;
}

mapped_segment::mapped_segment(mapped_segment&& other) noexcept
    : mapping_(std::move(other.mapping_)),
      memory_(std::exchange(other.memory_, nullptr)),
      places_(other.places_),
      pipe_(std::exchange(other.pipe_, -1)) {}

mapped_segment& mapped_segment::operator=(mapped_segment&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(memory_, other.memory_);
  std::swap(places_, other.places_);
  std::swap(pipe_, other.pipe_);
  return *this;
}

mapped_segment::~mapped_segment() {
  if (pipe_ >= 0) close(pipe_);
}

ring_positions& mapped_segment::positions(std::size_t sender) const noexcept {
  return *reinterpret_cast<ring_positions*>(memory_ + sizeof(segment_header) +
                                            sender * sizeof(ring_positions));
}

std::byte* mapped_segment::ring(std::size_t sender) const noexcept {
  return memory_ + rings_begin(places_) + sender * ring_bytes(places_);
}

std::span<std::byte> mapped_segment::shared_area() const noexcept {
  return {memory_ + area_begin(places_), shared_area_bytes};
}

bool mapped_segment::map(int file, std::size_t places) {
  const std::size_t bytes = segment_bytes(places);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return false;
  use({static_cast<std::byte*>(mapped), [bytes](std::byte* memory) { munmap(memory, bytes); }},
      places);
  return true;
}

void mapped_segment::use(std::shared_ptr<std::byte> mapping, std::size_t places) noexcept {
  mapping_ = std::move(mapping);
  memory_ = mapping_.get();
  places_ = places;
}

void mapped_segment::write_to_pipe() const noexcept {
  // If the pipe is full, the owner is woken already.
  const char byte = 0;
  static_cast<void>(!write(pipe_, &byte, 1));
}

own_segment::own_segment(std::size_t places, std::string& why_not) {
  rlimit files{};
  if (places > segment_header::senders_max) {
    why_not = fmt::format("more than {} places on this host", segment_header::senders_max);
  } else if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < segment_bytes(places)) {
    why_not = fmt::format("the limit on the size of files (ulimit -f) is below {} bytes",
                          segment_bytes(places));
  } else if (!make(places)) {
    why_not = error_of("memfd_create, mmap or pipe2");
  } else {
    offer_.process = static_cast<std::uint64_t>(getpid());
    mappings_of_process().add(offer_, places, memory_.mapping_);
  }
}

bool own_segment::make(std::size_t places) {
  file_ = memfd_create("apgas", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(segment_bytes(places))) != 0) return false;
  if (fcntl(file_, F_ADD_SEALS, seals) != 0 || !memory_.map(file_, places)) return false;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  reading_end_ = ends[0];
  memory_.pipe_ = ends[1];
  if (getrandom(offer_.nonce, sizeof offer_.nonce, 0) != sizeof offer_.nonce) return false;
  offer_.memory = static_cast<std::uint32_t>(file_);
  offer_.wakes = static_cast<std::uint32_t>(ends[1]);
  auto* const header = new (memory_.memory_) segment_header;
  std::ranges::copy(offer_.nonce, header->nonce);
  for (std::size_t i = 0; i < places; ++i) new (&memory_.positions(i)) ring_positions;
  return true;
}

void own_segment::close_file() noexcept {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

own_segment::~own_segment() {
  close_file();
  if (reading_end_ >= 0) close(reading_end_);
}

void own_segment::empty_pipe() const noexcept {
  char bytes[256];
  while (read(reading_end_, bytes, sizeof bytes) == sizeof bytes) {
  }
}

mapped_segment map_segment(const segment_offer& offer, std::size_t places, std::string& why_not) {
  mapped_segment made;
  bool mapped = true;
  if (auto mapping = mappings_of_process().find(offer, places)) {
    made.use(std::move(mapping), places);
  } else {
    const int file = open_of_process(offer, offer.memory, O_RDWR);
    if (file < 0) {
      why_not = error_of(fmt::format("process {} cannot be accessed", offer.process));
      return {};
    }
    mapped = is_segment(file, segment_bytes(places)) && made.map(file, places);
    close(file);
  }
  const segment_header expected;
  if (!mapped || !std::ranges::equal(made.header().magic, expected.magic) ||
      !std::ranges::equal(made.header().nonce, offer.nonce)) {
    why_not = fmt::format("process {} is another one here", offer.process);
    return {};
  }
  // Opened for reading, too, so that writing raises no SIGPIPE after the owner has ended.
  made.pipe_ = open_of_process(offer, offer.wakes, O_RDWR);
  if (made.pipe_ < 0) {
    why_not = error_of(fmt::format("the pipe of process {} cannot be opened", offer.process));
    return {};
  }
  return made;
}

}  // namespace apgas::inline v0::comm
