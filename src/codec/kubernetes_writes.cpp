#include "berth/codec/kubernetes_writes.h"

#include "berth/core/quantity.h"
#include "json_text.h"

namespace berth::codec {
namespace {

// maxNoteLength, with a margin for what becomes U+FFFD (k8s.io/kubernetes pkg/apis/core/validation/events.go).
constexpr std::size_t kMaxMessage = 1'000;

// Not in the middle of a UTF-8 sequence.
std::string_view cut(std::string_view text) {
  if (text.size() <= kMaxMessage) return text;
  std::size_t end = kMaxMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::string write_event(const PodEvent& event) {
  std::string out;
  {
    JsonText json(out, 1'024 + event.message.size());
    const auto field = [&json](std::string_view before, std::string_view value) {
      json.raw(before);
      json.string(value);
    };
    const std::string at = core::format_timestamp(event.at);
    field(R"({"apiVersion":"v1","kind":"Event","metadata":{"namespace":)", event.ns);
    field(R"(,"name":)", event.name);
    field(R"(},"involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":)", event.ns);
    field(R"(,"name":)", event.pod);
    field(R"(,"uid":)", event.uid);
    field(R"(},"type":)", event.warning ? "Warning" : "Normal");
    field(R"(,"reason":)", event.reason);
    field(R"(,"message":)", cut(event.message));
    field(R"(,"firstTimestamp":)", at);
    field(R"(,"lastTimestamp":)", at);
    json.raw(R"(,"count":1,"source":{"component":"berth"},"reportingComponent":"berth","reportingInstance":"berth"})");
  }
  return out;
}

std::string write_annotation_patch(std::string_view uid, std::string_view key, std::string_view value) {
  std::string out;
  {
    JsonText json(out, 128 + uid.size() + key.size() + value.size());
    json.raw(R"({"metadata":{"uid":)");
    json.string(uid);
    json.raw(R"(,"annotations":{)");
    json.string(key);
    json.raw(":");
    json.string(value);
    json.raw("}}}");
  }
  return out;
}

}  // namespace berth::codec
