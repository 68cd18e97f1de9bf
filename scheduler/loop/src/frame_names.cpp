// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame_names.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t longest_name = 120;

// A file in memory; empty if it cannot be read.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    if (fstat(file, &about) == 0 && about.st_size > 0) {
      const auto size = static_cast<std::size_t>(about.st_size);
      void* const at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(at), size};
    }
    close(file);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }

  // The table of `count` entries at `offset`; empty if it does not lie in the file.
  template <class T>
  std::span<const T> table(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) ||
        offset % alignof(T) != 0)
      return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
  }

 private:
  std::span<const std::byte> bytes_;
};

// The symbol of the function that contains the address, which is that of the file; empty if there
// is none. A stripped file has the symbols of its exported functions.
std::string symbol_at(const mapped_file& file, ElfW(Addr) address) {
  const auto header = file.table<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections = file.table<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  for (const auto kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto table = std::ranges::find(sections, ElfW(Word)(kind), &ElfW(Shdr)::sh_type);
    if (table == sections.end() || table->sh_link >= sections.size()) continue;
    const auto& names = sections[table->sh_link];
    const auto text = file.table<char>(names.sh_offset, names.sh_size);
    for (const auto& s :
         file.table<ElfW(Sym)>(table->sh_offset, table->sh_size / sizeof(ElfW(Sym))))
      if ((s.st_info & 0xf) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_name < text.size() &&
          address - s.st_value < std::max<ElfW(Xword)>(s.st_size, 1) && address >= s.st_value) {
        const auto begin = text.subspan(s.st_name);
        return {begin.begin(), std::ranges::find(begin, '\0')};
      }
  }
  return {};
}

bool begins_with_any(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto each) { return name.starts_with(each); });
}

// A part of the program: its own file, or a library.
struct program_part {
  const link_map* loaded;
  mapped_file file;
  explicit program_part(const link_map* part)
      : loaded(part), file(is_executable() ? "/proc/self/exe" : part->l_name) {}
  bool is_executable() const noexcept { return loaded->l_name[0] == '\0'; }
  std::string name() const {
    return is_executable() ? "the program" : std::filesystem::path(loaded->l_name).filename();
  }
  bool is_of_system() const {
    constexpr std::array<std::string_view, 10> libraries = {
        "libc.",     "libm.",      "libpthread.", "libstdc++.", "libc++.",
        "libc++abi", "libunwind.", "libgcc_s.",   "ld-linux",   "linux-vdso."};
    return begins_with_any(name(), libraries);
  }
};

const link_map* part_with(const void* address) noexcept {
  Dl_info about{};
  void* part = nullptr;
  return dladdr1(address, &about, &part, RTLD_DL_LINKMAP) == 0 ? nullptr
                                                               : static_cast<link_map*>(part);
}

// Functions of this library that are in other files, since they are templates or linked statically.
bool is_of_runtime(std::string_view symbol) {
  constexpr std::array<std::string_view, 4> ours = {"_ZN5apgas2v0", "_ZNK5apgas2v0",
                                                    "_ZZN5apgas2v0", "_ZZNK5apgas2v0"};
  return begins_with_any(symbol, ours);
}

bool is_of_standard_library(std::string_view symbol) {
  constexpr std::array<std::string_view, 5> theirs = {"_ZNSt", "_ZNKSt", "_ZSt", "_ZZNSt",
                                                      "_ZN9__gnu"};
  return begins_with_any(symbol, theirs);
}

}  // namespace

std::string function_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // of C
  int status = 0;
  const std::string original = symbol.substr(0, symbol.find('.'));  // of which it may be a clone
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(original.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = readable == nullptr ? original : readable.get();
  if (name.ends_with(" const")) name.resize(name.size() - 6);
  if (name.ends_with(')')) {
    std::size_t at = name.size();
    int open = 0;
    do {
      --at;
      open += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    } while (at > 0 && open > 0);
    if (at > 0) name.resize(at);
  }
  if (name.size() > longest_name) {
    name.resize(longest_name);
    name += "...";
  }
  return name;
}

std::string function_of_program(std::uintptr_t address) {
  const link_map* const loaded = part_with(reinterpret_cast<const void*>(address));
  if (loaded == nullptr) return {};
  const program_part part(loaded);
  const bool is_ours = loaded == part_with(reinterpret_cast<const void*>(&function_of_program));
  if ((is_ours && !part.is_executable()) || part.is_of_system()) return {};
  const auto offset = address - loaded->l_addr;
  const std::string symbol = symbol_at(part.file, offset);
  if (is_of_runtime(symbol) || is_of_standard_library(symbol)) return {};
  const std::string place = fmt::format("{}+{:#x}", part.name(), offset);
  return symbol.empty() ? place : fmt::format("{} ({})", function_name(symbol), place);
}

frame_names names_of(const std::vector<std::uintptr_t>& addresses, std::size_t most) {
  frame_names found;
  const link_map* const ours = part_with(reinterpret_cast<const void*>(&names_of));
  std::vector<std::unique_ptr<program_part>> parts;
  std::size_t of_program = 0;  // frames, to the outermost one of the program
  bool named = false;          // the innermost one that was found
  for (const std::uintptr_t address : addresses) {
    if (found.frames.size() == most) break;
    const link_map* const loaded = part_with(reinterpret_cast<const void*>(address));
    if (loaded == nullptr) continue;  // as for code that was generated at run time
    auto part = std::ranges::find(parts, loaded, [](const auto& p) { return p->loaded; });
    if (part == parts.end()) {
      part = parts.insert(parts.end(), std::make_unique<program_part>(loaded));
    }
    if (loaded == ours && !(*part)->is_executable()) continue;
    const auto offset = address - loaded->l_addr;
    const std::string symbol = symbol_at((*part)->file, offset);
    if (is_of_runtime(symbol)) continue;
    found.frames.push_back(symbol.empty() ? fmt::format("{}+{:#x}", (*part)->name(), offset)
                                          : function_name(symbol));
    if (is_of_standard_library(symbol) || (*part)->is_of_system()) continue;
    of_program = found.frames.size();
    if (named || (symbol.empty() && !found.innermost.empty())) continue;
    found.innermost = found.frames.back();
    named = !symbol.empty();
  }
  found.frames.resize(of_program);
  return found;
}

}  // namespace apgas::inline v0::scheduler
