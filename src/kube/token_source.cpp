#include "token_source.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "small_file.h"

namespace berth::kube {
namespace {

constexpr std::chrono::seconds kReadEvery{60};
constexpr std::string_view kMustBe = "must be one line of visible ASCII";

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

TokenSource::TokenSource(std::string fixed, std::string file, const core::Clock& clock)
    : token_(std::move(fixed)), file_(std::move(file)), clock_(clock) {}

core::Result<void> TokenSource::start() {
  const std::lock_guard lock(mutex_);
  if (!token_.empty() && !is_token(token_)) {
    return core::fail(core::ErrorCode::kInvalid, "the token " + std::string(kMustBe));
  }
  if (file_.empty()) return {};
  if (token_.empty()) return read();
  read_and_tell();
  return {};
}

std::string TokenSource::current() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty() && clock_.now() - read_at_ >= kReadEvery) read_and_tell();
  return token_;
}

std::string TokenSource::refresh() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty()) read_and_tell();
  return token_;
}

core::Result<void> TokenSource::read() {
  read_at_ = clock_.now();
  auto text = read_small_file(file_, kMaxTokenBytes);
  if (!text) return tl::unexpected(std::move(text.error()));
  const std::size_t end = text->find_last_not_of(" \t\r\n");
  text->resize(end == std::string::npos ? 0 : end + 1);
  if (text->empty()) return core::fail(core::ErrorCode::kInvalid, "it is empty", file_);
  if (!is_token(*text)) return core::fail(core::ErrorCode::kInvalid, "a token " + std::string(kMustBe), file_);
  token_ = std::move(*text);
  return {};
}

void TokenSource::read_and_tell() {
  const auto result = read();
  if (!result && !read_failed_) {
    spdlog::warn("token file: {}; the last token stays in use", result.error().to_string());
  }
  read_failed_ = !result;
}

}  // namespace berth::kube
