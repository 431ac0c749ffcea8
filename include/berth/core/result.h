// Errors as values: what every function that can fail on foreign input returns.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth::core {

enum class ErrorCode : std::uint8_t {
  kInvalid,      // the input is not what it should be
  kNotFound,     // what was named does not exist
  kTooLarge,     // a limit on size or depth was passed
  kUnavailable,  // a peer can't be reached or answers with a failure
  kDenied,       // a peer refused who we are or what we ask
  kTimeout,      // no answer in time
  kGone,         // the version asked for is no longer kept (HTTP 410)
  kConflict,     // the state is not the one assumed (HTTP 409)
  kCancelled,    // we were told to stop
  kInternal,     // a bug of ours
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // for a person: what is wrong and what to do
  std::string where;    // the place in the input (file, line, field, byte), empty if there is none

  // "where: message", or the message alone.
  [[nodiscard]] std::string to_string() const { return where.empty() ? message : where + ": " + message; }
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where)});
}

}  // namespace berth::core
