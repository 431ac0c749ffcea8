// Allocation by demand arrived as SVG, drawn by hand: a picture of lines needs no library.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report_parts.h"

namespace berth::simulate {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 440;
constexpr double kLeft = 62;
constexpr double kRight = 150;  // names of the lines
constexpr double kTop = 44;
constexpr double kBottom = 52;
constexpr double kLeastNameGap = 15;
// Told apart also by those who see few colours (Okabe and Ito); Berth's own in the darkest.
constexpr std::array<const char*, kPolicies> kColours = {"#999999", "#56b4e9", "#e69f00", "#cc79a7",
                                                         "#009e73", "#d55e00", "#0b3d91"};

struct Range {
  double least = 0;
  double most = 100;
  double step = 10;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

class Picture {
 public:
  Picture(Range x, Range y) : x_(x), y_(y) {}

  [[nodiscard]] double x(double value) const {
    return kLeft + (value - x_.least) / (x_.most - x_.least) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    return kHeight - kBottom - (value - y_.least) / (y_.most - y_.least) * (kHeight - kTop - kBottom);
  }

  [[nodiscard]] std::string axes(const std::string& title) const {
    std::string out = fmt::format(
        "<text x=\"{}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>\n"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">GPUs asked for so far, % of the cluster</text>\n"
        "<text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">GPUs allocated, % of the "
        "cluster</text>\n",
        kLeft, escaped(title), (x(x_.least) + x(x_.most)) / 2, kHeight - 12, (y(y_.least) + y(y_.most)) / 2);
    for (double value = y_.least; value <= y_.most + 1e-9; value += y_.step) {
      out += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                         x(x_.least), x(x_.most), y(value), y(value));
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", kLeft - 8, y(value) + 4,
                         value);
    }
    for (double value = x_.least; value <= x_.most + 1e-9; value += x_.step) {
      out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#999\"/>\n",
                         x(value), y(y_.least), y(y_.least) + 5);
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", x(value),
                         y(y_.least) + 19, value);
    }
    return out;
  }

 private:
  Range x_;
  Range y_;
};

struct Line {
  std::string name;
  const char* colour;
  std::vector<std::pair<double, double>> points;
};

Line line_of(const PolicyReplays& policy) {
  Line line{std::string(to_string(policy.policy)), kColours[static_cast<std::size_t>(policy.policy)], {}};
  for (std::size_t percent = 0; percent <= last_percent({&policy, 1}); ++percent) {
    const Spread at = spread_at(policy, percent, [](const Point& point) { return point.allocation; });
    if (at.runs > 0) line.points.emplace_back(static_cast<double>(percent), at.mean);
  }
  return line;
}

std::string draw(const Picture& picture, const std::vector<std::pair<double, double>>& points, double least_x,
                 double least_y) {
  std::string path;
  for (const auto& [x, y] : points) {
    if (x < least_x || y < least_y) continue;
    path += fmt::format("{:.1f},{:.1f} ", picture.x(x), picture.y(y));
  }
  if (!path.empty()) path.pop_back();
  return path;
}

}  // namespace

std::string allocation_plot(std::span<const PolicyReplays> policies, const std::string& title) {
  std::vector<Line> lines;
  double last = 100;
  double lowest_end = 100;
  for (const PolicyReplays& policy : policies) {
    lines.push_back(line_of(policy));
    if (lines.back().points.empty()) continue;
    last = std::max(last, lines.back().points.back().first);
    lowest_end = std::min(lowest_end, lines.back().points.back().second);
  }
  // What differs is at the end: the beginning, where all is allocated that is asked for, is left out.
  const double least = std::max(0.0, std::floor((lowest_end - 10) / 10) * 10);
  const Picture picture({least, std::ceil(last / 10) * 10, 10}, {least, 100, least >= 60 ? 5.0 : 10.0});

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n",
      kWidth, kHeight);
  out += picture.axes(title);
  out += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>\n",
      picture.x(least), picture.y(least), picture.x(100), picture.y(100));

  // Names stand at the ends of their lines, pushed apart where these are close.
  std::ranges::sort(lines, std::greater<>(),
                    [](const Line& line) { return line.points.empty() ? 0.0 : line.points.back().second; });
  double name_y = kTop - kLeastNameGap;
  for (const Line& line : lines) {
    if (line.points.empty()) continue;
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n", line.colour,
                       draw(picture, line.points, least, least));
    const double end = line.points.back().second;
    name_y = std::max(name_y + kLeastNameGap, picture.y(end) + 4);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{} {:.1f}</text>\n",
                       picture.x(line.points.back().first) + 8, name_y, line.colour, line.name, end);
  }
  return out + "</svg>\n";
}

}  // namespace berth::simulate
