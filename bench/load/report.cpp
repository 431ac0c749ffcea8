#include "report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

namespace berth::bench {
namespace {

template <class... Arguments>
std::string text(const char* format, Arguments... arguments) {
  std::array<char, 512> out{};
  std::snprintf(out.data(), out.size(), format, arguments...);
  return out.data();
}

bool met(const Row& row) {
  return std::ranges::all_of(row.checks, [](const Check& check) { return check.met(); });
}

std::string verdict(const Row& row) {
  if (row.checks.empty()) return "";
  std::string out = met(row) ? "ok:" : "MISSED:";
  for (const Check& check : row.checks) {
    out += text(" %s %.2f %s %.0f %s;", check.what.c_str(), check.value, check.met() ? "<=" : ">", check.limit,
                check.unit.c_str());
  }
  out.pop_back();
  return out;
}

std::string line_of(const Row& row) {
  std::string line = text("%-34s %6zu %5d %6zu", row.figure.c_str(), row.nodes, row.round, row.count);
  if (row.has_time) {
    line += text(" %8.2f %8.2f %8.2f %8.2f", row.time.p50_ms, row.time.p90_ms, row.time.p99_ms, row.time.max_ms);
  } else {
    line += text(" %17.2f %-17s", row.value, row.unit.c_str());
  }
  if (row.has_echo) {
    line += text(" | %8.2f %8.2f %8.2f %8.2f", row.echo.p50_ms, row.echo.p90_ms, row.echo.p99_ms, row.echo.max_ms);
  } else {
    line += text(" | %35s", "");
  }
  line += " | " + verdict(row);
  if (!row.note.empty()) line += (row.checks.empty() ? "" : "; ") + row.note;
  return line;
}

nlohmann::json json_of(const Quantiles& of) {
  return {{"p50_ms", of.p50_ms}, {"p90_ms", of.p90_ms}, {"p99_ms", of.p99_ms}, {"max_ms", of.max_ms}};
}

}  // namespace

Quantiles quantiles(const Latencies& latencies) {
  return {latencies.quantile_ms(0.5), latencies.quantile_ms(0.9), latencies.quantile_ms(0.99),
          latencies.quantile_ms(1)};
}

std::string load_average() {
  std::ifstream file("/proc/loadavg");
  std::string one;
  std::string five;
  std::string fifteen;
  file >> one >> five >> fifteen;
  return one + " " + five + " " + fifteen;
}

Machine this_machine() {
  Machine machine;
  machine.cores = std::thread::hardware_concurrency();
  machine.load_before = load_average();
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && machine.cpu.empty();) {
    if (line.starts_with("model name")) machine.cpu = line.substr(std::min(line.find(':') + 2, line.size()));
  }
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  machine.date = date.data();
  return machine;
}

bool Report::add(Row row) {
  std::fprintf(stderr, "%s\n", line_of(row).c_str());
  rows_.push_back(std::move(row));
  return met(rows_.back());
}

std::vector<std::string> Report::missed() const {
  std::vector<std::string> out;
  for (const Row& row : rows_) {
    const auto same = [&row](const Row& other) { return other.figure == row.figure && other.nodes == row.nodes; };
    if (row.round != 1 || std::ranges::any_of(rows_, [&](const Row& each) { return same(each) && met(each); }))
      continue;
    out.push_back(text("%s at %zu nodes: ", row.figure.c_str(), row.nodes) + verdict(row) + " (first round)");
  }
  return out;
}

std::string Report::table() const {
  std::string out = text("machine: %s, %u cores, load average %s before and %s after; commit %s; %s; %.0f s\n",
                         machine.cpu.c_str(), machine.cores, machine.load_before.c_str(), machine.load_after.c_str(),
                         machine.commit.c_str(), machine.date.c_str(), machine.seconds);
  out +=
      "Times in ms, at the client, from the first byte sent to the answer complete; right of the bar the echo "
      "handler.\n\n";
  out += text("%-34s %6s %5s %6s %8s %8s %8s %8s | %8s %8s %8s %8s | %s\n", "figure", "nodes", "round", "count", "P50",
              "P90", "P99", "max", "P50", "P90", "P99", "max", "bounds");
  for (const Row& row : rows_) out += line_of(row) + "\n";
  const auto all_missed = missed();
  out += all_missed.empty() ? "\nAll bounds are met.\n" : "\nMissed in every round:\n";
  for (const std::string& each : all_missed) out += "  " + each + "\n";
  return out;
}

std::string Report::json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : rows_) {
    nlohmann::json out = {{"figure", row.figure}, {"nodes", row.nodes}, {"round", row.round}};
    if (row.has_time) {
      out["count"] = row.count;
      out["time"] = json_of(row.time);
    } else {
      out["value"] = row.value;
      out["unit"] = row.unit;
    }
    if (row.has_echo) {
      out["request_bytes"] = row.request_bytes;
      out["answer_bytes"] = row.answer_bytes;
      out["echo"] = json_of(row.echo);
      out["from_due_time"] = json_of(row.scheduled);
      out["after_last_body_byte"] = json_of(row.after_body);
      out["echo_after_last_body_byte"] = json_of(row.echo_after_body);
      out["sent_late"] = json_of(row.lateness);
      out["calls_per_second"] = row.per_second;
      out["server_cpu_ms_a_call"] = row.berth_cpu_ms;
      out["echo_cpu_ms_a_call"] = row.echo_cpu_ms;
    }
    if (!row.note.empty()) out["note"] = row.note;
    for (const Check& check : row.checks) {
      out["bounds"].push_back({{"what", check.what},
                               {"value", check.value},
                               {"limit", check.limit},
                               {"unit", check.unit},
                               {"met", check.met()}});
    }
    rows.push_back(std::move(out));
  }
  const nlohmann::json all = {{"machine",
                               {{"cpu", machine.cpu},
                                {"cores", machine.cores},
                                {"load_before", machine.load_before},
                                {"load_after", machine.load_after}}},
                              {"commit", machine.commit},
                              {"date", machine.date},
                              {"seconds", machine.seconds},
                              {"rows", rows},
                              {"missed", missed()}};
  return all.dump(2) + "\n";
}

}  // namespace berth::bench
