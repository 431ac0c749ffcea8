#include "token_source.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "small_file.h"

namespace berth::kube {
namespace {

constexpr std::chrono::seconds kReadEvery{60};
constexpr std::size_t kMaxTokenBytes = 1U << 20U;

}  // namespace

TokenSource::TokenSource(std::string fixed, std::string file, const core::Clock& clock)
    : token_(std::move(fixed)), file_(std::move(file)), clock_(clock) {
  if (!file_.empty()) read();
}

std::string TokenSource::current() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty() && clock_.now() - read_at_ >= kReadEvery) read();
  return token_;
}

std::string TokenSource::refresh() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty()) read();
  return token_;
}

void TokenSource::read() {
  read_at_ = clock_.now();
  auto text = read_small_file(file_, kMaxTokenBytes);
  if (text) {
    const std::size_t end = text->find_last_not_of(" \t\r\n");
    text->resize(end == std::string::npos ? 0 : end + 1);
  }
  const bool failed = !text || text->empty();
  if (!failed) token_ = std::move(*text);
  if (failed && !read_failed_) {
    spdlog::warn("token file: {}; the last token stays in use",
                 text ? file_ + ": it is empty" : text.error().to_string());
  }
  read_failed_ = failed;
}

}  // namespace berth::kube
