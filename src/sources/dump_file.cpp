#include "dump_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth::sources {
namespace {

using core::ErrorCode;

constexpr const char* kHowTo = "make it with kubectl get nodes,pods,pvc,datasets.data.fluid.io -A -o json";

// "NAME: items[3]...", or "NAME:LINE:COLUMN" where the parser says "byte N".
std::string place_in(const std::string& name, std::string_view text, const std::string& where) {
  if (where.empty()) return name;
  constexpr std::string_view kByte = "byte ";
  std::size_t offset = 0;
  if (!where.starts_with(kByte) ||
      std::from_chars(where.data() + kByte.size(), where.data() + where.size(), offset).ec != std::errc()) {
    return name + ": " + where;
  }
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column = line_start == std::string_view::npos ? before.size() + 1 : before.size() - line_start;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

// What a text that is no JSON object looks like, and what to do about it; empty if it begins like one.
std::string other_format(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::string("it is empty; ") + kHowTo;
  text.remove_prefix(begin);
  if (text.front() == '{') return {};
  if (text.starts_with("\xEF\xBB\xBF")) return "it begins with a byte order mark; save it as plain UTF-8";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "it is UTF-16; save it as UTF-8";
  if (text.starts_with("\x1F\x8B")) return "it is compressed; decompress it first (gzip -d)";
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with("---") || line.starts_with("apiVersion:") || line.starts_with("kind:") ||
      line.starts_with("items:")) {
    return "it is YAML; use -o json instead of -o yaml";
  }
  if (line.starts_with("NAME")) return "it is kubectl's table; add -o json";
  return std::string("it is not a JSON object; ") + kHowTo;
}

}  // namespace

core::Result<std::string> read_whole(int fd, const std::string& name, std::size_t max_bytes) {
  std::string text;
  struct stat info{};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    return core::fail(ErrorCode::kInvalid, "it is a directory; name a file", name);
  }
  // Room for the parser's padding as well, so that a large text is not copied for it.
  constexpr std::size_t kSpare = 4096;
  if (S_ISREG(info.st_mode)) text.reserve(std::min(static_cast<std::size_t>(info.st_size), max_bytes) + kSpare);
  std::string block(std::size_t{1} << 18U, '\0');
  while (true) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return core::fail(ErrorCode::kUnavailable, "can't read it: " + std::generic_category().message(errno), name);
    }
    if (got == 0) return text;
    if (text.size() + static_cast<std::size_t>(got) > max_bytes) {
      return core::fail(
          ErrorCode::kTooLarge,
          "it has more than " + std::to_string(max_bytes) + " bytes; dump only nodes, pods, claims and datasets", name);
    }
    text.append(block, 0, static_cast<std::size_t>(got));
  }
}

core::Result<codec::ClusterDump> parse_dump(std::string& text, const std::string& name,
                                            const model::ResourceNames& resources) {
  if (const std::string why = other_format(text); !why.empty()) return core::fail(ErrorCode::kInvalid, why, name);
  codec::ObjectReader reader(resources);
  auto dump = reader.read_cluster_dump(text);
  if (!dump) {
    core::Error error = std::move(dump.error());
    error.where = place_in(name, text, error.where);
    return tl::unexpected(std::move(error));
  }
  return dump;
}

}  // namespace berth::sources
