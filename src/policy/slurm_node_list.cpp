#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "berth/policy/recommend.h"

namespace berth::policy {
namespace {

// Longer numbers don't fit in 64 bits, and nobody counts nodes so far.
constexpr std::size_t kMostDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_host(std::string_view name) {
  const auto good = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), good);
}

// A name as its letters and the number at its end.
struct Host {
  std::string_view prefix;
  std::string_view digits;  // empty: no number, or one that is left as it is
  std::uint64_t number = 0;
};

Host split(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  const std::string_view digits = name.substr(end);
  if (digits.empty() || digits.size() > kMostDigits) return {name, {}, 0};
  Host host{name.substr(0, end), digits, 0};
  std::from_chars(digits.data(), digits.data() + digits.size(), host.number);
  return host;
}

// Whether Slurm would write `next` as the number after `last` in a range that begins with `first`.
bool follows(const Host& first, const Host& last, const Host& next) {
  if (last.digits.empty() || next.digits.empty() || next.number != last.number + 1) return false;
  const std::size_t plain = std::to_string(next.number).size();
  return next.digits.size() == std::max(first.digits.size(), plain);
}

}  // namespace

std::string slurm_node_list(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !is_host(name); });
  std::vector<Host> hosts;
  hosts.reserve(names.size());
  for (const std::string& name : names) hosts.push_back(split(name));
  const auto key = [](const Host& host) { return std::tuple(host.prefix, host.digits.size(), host.number); };
  std::sort(hosts.begin(), hosts.end(), [&](const Host& a, const Host& b) { return key(a) < key(b); });
  hosts.erase(std::unique(hosts.begin(), hosts.end(), [&](const Host& a, const Host& b) { return key(a) == key(b); }),
              hosts.end());

  std::string list;
  for (std::size_t from = 0; from < hosts.size();) {
    std::string ranges;
    std::size_t at = from;
    while (at < hosts.size() && hosts[at].prefix == hosts[from].prefix &&
           hosts[at].digits.empty() == hosts[from].digits.empty()) {
      std::size_t last = at;
      while (last + 1 < hosts.size() && hosts[last + 1].prefix == hosts[at].prefix &&
             follows(hosts[at], hosts[last], hosts[last + 1])) {
        ++last;
      }
      if (!ranges.empty()) ranges += ',';
      ranges += hosts[at].digits;
      if (last > at) (ranges += '-') += hosts[last].digits;
      at = last + 1;
      if (hosts[from].digits.empty()) break;
    }
    if (!list.empty()) list += ',';
    list += hosts[from].prefix;
    list += at - from > 1 ? "[" + ranges + "]" : ranges;
    from = at;
  }
  return list;
}

}  // namespace berth::policy
