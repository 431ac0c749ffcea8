#include "berth/server/logging.h"

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>

#include "berth/core/quantity.h"

namespace berth::server {
namespace {

// The name of our default logger, which says nothing about where a message is from.
constexpr const char* kDefaultName = "";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void append_hex(std::string& out, const char* prefix, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.append(prefix);
  out += kDigits[static_cast<unsigned char>(c) >> 4U];
  out += kDigits[static_cast<unsigned char>(c) & 15U];
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (RFC 3629 section 4).
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const auto tail = [&](std::size_t at) { return byte(at) >= 0x80 && byte(at) <= 0xbf; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  const unsigned second_least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned second_most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_least || byte(1) > second_most) return 0;
  if (first >= 0xe0 && first <= 0xef) return tail(2) ? 3 : 0;
  return first >= 0xf0 && first <= 0xf4 && tail(2) && tail(3) ? 4 : 0;
}

void append_json(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (is_control(c)) {
      append_hex(out, "\\u00", c);
    } else if (taken = sequence(text); taken == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD, the replacement character
      taken = 1;
    } else {
      out.append(text.substr(0, taken));
    }
    text.remove_prefix(taken);
  }
}

void append_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (is_control(c) && c != '\t') {
      append_hex(out, "\\x", c);
    } else {
      out += c;
    }
  }
}

std::string_view level_name(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::info:
      return "info";
    case spdlog::level::warn:
      return "warn";
    default:
      return "error";
  }
}

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(LogFormat format) : format_(format) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& into) override {
    const std::string_view module(message.logger_name.data(), message.logger_name.size());
    const std::string_view payload(message.payload.data(), message.payload.size());
    const auto write = format_ == LogFormat::kJson ? json_line : text_line;
    const std::string line = write(std::chrono::time_point_cast<core::WallTime::duration>(message.time),
                                   level_name(message.level), module, payload);
    into.append(line.data(), line.data() + line.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(format_);
  }

 private:
  LogFormat format_;
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

void set_up_logging(const LogConfig& config) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(kDefaultName, std::move(sink));
  logger->set_formatter(std::make_unique<LineFormatter>(config.format));
  logger->set_level(spdlog_level(config.level));
  spdlog::set_default_logger(std::move(logger));
}

std::string json_line(core::WallTime time, std::string_view level, std::string_view module, std::string_view message) {
  std::string line = "{\"time\":\"" + core::format_timestamp(time) + "\",\"level\":\"";
  line += level;
  if (!module.empty()) {
    line += "\",\"module\":\"";
    append_json(line, module);
  }
  line += "\",\"message\":\"";
  append_json(line, message);
  line += "\"}\n";
  return line;
}

std::string text_line(core::WallTime time, std::string_view level, std::string_view module, std::string_view message) {
  std::string line = core::format_timestamp(time) + ' ';
  line += level;
  line.append(level.size() < 5 ? 6 - level.size() : 1, ' ');
  if (!module.empty()) {
    append_text(line, module);
    line += ": ";
  }
  append_text(line, message);
  line += '\n';
  return line;
}

}  // namespace berth::server
