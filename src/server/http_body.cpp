#include "http_body.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace berth::server {
namespace {

// Large enough that a names-only request of 5,000 nodes takes a few reads.
constexpr std::size_t kBufferBytes = 128U << 10U;
constexpr std::size_t kMaxLineBytes = 1024;  // of a chunk size with extensions, or of a trailer
constexpr int kMaxTrailers = 32;
constexpr int kMaxEmptyLines = 8;  // before a request
// What the lines around the chunks may take beside the data: enough for chunks of one byte without extensions.
constexpr std::size_t kFreeOverhead = 64U << 10U;
constexpr std::size_t kOverheadPerByte = 16;

static_assert(kBufferBytes > kMaxHeadBytes + 4);

// Room for `more` bytes and the padding. Memory follows what has arrived, not what was announced: at most four times as
// much, in steps so wide that a body of 14 MB is moved three times.
void make_room(std::string& body, std::size_t more, std::size_t whole) {
  constexpr std::size_t kFirst = std::size_t{256} << 10U;  // a names-only request of 5,000 nodes, in one step
  const std::size_t needed = body.size() + more + kBodyPadding;
  if (needed <= body.capacity()) return;
  body.reserve(std::max(needed, std::min(whole + kBodyPadding, std::max(kFirst, 4 * body.capacity()))));
}

}  // namespace

bool BodyBudget::take(std::size_t bytes) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ || used > limit_ - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

bool BodyShare::take(std::size_t bytes) {
  if (!budget_.take(bytes)) return false;
  taken_ += bytes;
  return true;
}

PageBuffer::PageBuffer(std::size_t bytes) : bytes_(bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char*>(mapped);
}

PageBuffer::~PageBuffer() { ::munmap(data_, bytes_); }

void RequestReader::release_buffer() {
  if (!has_bytes()) buffer_.reset();
}

tl::expected<void, HttpRefusal> RequestReader::fill(core::SteadyTime deadline) {
  if (has_bytes()) return {};
  if (!buffer_) buffer_.emplace(kBufferBytes);
  begin_ = end_ = 0;
  const ReadResult got = socket_.read({buffer_->data(), kBufferBytes}, deadline);
  if (got.status == ReadStatus::kTimeout) return refuse(408, "the request did not arrive in time");
  if (got.status == ReadStatus::kClosed) return refuse(400, "the connection ended in the middle of a request");
  end_ = got.bytes;
  return {};
}

tl::expected<std::string, HttpRefusal> RequestReader::read_head(core::SteadyTime deadline) {
  if (!has_bytes() && !fill(deadline)) return refuse(0, "");
  int empty_lines = 0;
  for (;;) {
    // An empty line before a request is to be ignored (RFC 9112 section 2.2).
    while (bytes().starts_with("\r\n")) {
      if (++empty_lines > kMaxEmptyLines) return refuse(400, "too many empty lines before a request");
      begin_ += 2;
    }
    if (!has_bytes()) {
      if (!fill(deadline)) return refuse(0, "");
      continue;
    }
    const auto end = find_head_end(bytes());
    if (!end) return tl::unexpected(end.error());
    if (*end > 0) {
      std::string head(bytes().substr(0, *end));
      begin_ += *end;
      return head;
    }
    if (begin_ > 0) {
      std::copy(buffer_->data() + begin_, buffer_->data() + end_, buffer_->data());
      end_ -= begin_;
      begin_ = 0;
    }
    const ReadResult got = socket_.read({buffer_->data() + end_, kBufferBytes - end_}, deadline);
    if (got.status == ReadStatus::kTimeout) return refuse(408, "the request did not arrive in time");
    if (got.status == ReadStatus::kClosed) return refuse(400, "the connection ended in the middle of a request");
    end_ += got.bytes;
  }
}

tl::expected<void, HttpRefusal> RequestReader::append(std::string& body, std::uint64_t length, std::size_t whole,
                                                      std::size_t limit, BodyShare& share, core::SteadyTime deadline) {
  if (length > limit || body.size() > limit - length) {
    return refuse(413, "the body is larger than " + std::to_string(limit) + " bytes");
  }
  while (length > 0) {
    if (const auto filled = fill(deadline); !filled) return filled;
    const std::string_view piece =
        bytes().substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(length, bytes().size())));
    if (!share.take(piece.size())) return refuse(503, "too many request bodies in work, try again");
    make_room(body, piece.size(), whole);
    body.append(piece);
    begin_ += piece.size();
    length -= piece.size();
  }
  return {};
}

tl::expected<std::string, HttpRefusal> RequestReader::read_line(core::SteadyTime deadline) {
  std::string line;
  for (;;) {
    if (const auto filled = fill(deadline); !filled) return tl::unexpected(filled.error());
    const std::size_t end = bytes().find('\n');
    const std::string_view piece = bytes().substr(0, end);
    if (line.size() + piece.size() > kMaxLineBytes) return refuse(400, "line too long in a chunked body");
    line.append(piece);
    begin_ += piece.size();
    if (end == std::string_view::npos) continue;
    ++begin_;
    if (line.empty() || line.back() != '\r') return refuse(400, "lines must end with CR LF");
    line.pop_back();
    return line;
  }
}

tl::expected<std::string, HttpRefusal> RequestReader::read_body(const RequestHead& head, std::size_t limit,
                                                                BodyShare& share, core::SteadyTime deadline) {
  std::string body;
  if (!head.chunked) {
    const auto whole = static_cast<std::size_t>(std::min<std::uint64_t>(head.content_length, limit));
    if (const auto read = append(body, head.content_length, whole, limit, share, deadline); !read) {
      return tl::unexpected(read.error());
    }
    make_room(body, 0, whole);
    return body;
  }
  std::size_t overhead = 0;
  for (;;) {
    const auto line = read_line(deadline);
    if (!line) return tl::unexpected(line.error());
    overhead += line->size() + 4;
    if (overhead > kFreeOverhead && (overhead - kFreeOverhead) / kOverheadPerByte > body.size()) {
      return refuse(400, "a chunked body of little but chunk lines");
    }
    const auto size = parse_chunk_size(*line);
    if (!size) return tl::unexpected(size.error());
    if (*size == 0) break;
    if (const auto read = append(body, *size, limit, limit, share, deadline); !read)
      return tl::unexpected(read.error());
    const auto end = read_line(deadline);
    if (!end) return tl::unexpected(end.error());
    if (!end->empty()) return refuse(400, "a chunk is longer than its size");
  }
  for (int trailers = 0; trailers <= kMaxTrailers; ++trailers) {
    const auto line = read_line(deadline);
    if (!line) return tl::unexpected(line.error());
    if (line->empty()) {
      make_room(body, 0, body.size());
      return body;
    }
  }
  return refuse(400, "too many trailers");
}

bool RequestReader::discard(std::uint64_t length, core::SteadyTime deadline) {
  while (length > 0) {
    if (!fill(deadline)) return false;
    const std::uint64_t taken = std::min<std::uint64_t>(length, bytes().size());
    begin_ += static_cast<std::size_t>(taken);
    length -= taken;
  }
  return true;
}

}  // namespace berth::server
