// bench_server: Berth's own program, and on its extender port POST /echo?bytes=N, which answers N bytes.
//
// The server hands a handler the whole body, so what echo takes is what any answer of that size to that body takes.
#include <charconv>
#include <string>

#include "berth/cli/cli.h"

namespace {

constexpr std::size_t kMostBytes = 128U << 20U;

berth::server::HttpResponse echo(berth::server::HttpRequest& request) {
  berth::server::HttpResponse response;
  const std::string text = request.query("bytes");
  std::size_t bytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (code != std::errc() || end != text.data() + text.size() || bytes > kMostBytes) {
    response.status = 400;
  } else {
    response.body.assign(bytes, 'x');
  }
  return response;
}

}  // namespace

int main(int argc, char** argv) {
  return berth::cli::run(argc, argv, [](berth::server::HttpServer& server) { server.post("/echo", echo); });
}
