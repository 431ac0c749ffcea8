#include "berth/sources/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "support/fake_api_server.h"
#include "support/update_recorder.h"

namespace berth::sources {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::make_node;
using testing::make_pod;

std::string list_of(const std::vector<nlohmann::json>& items) {
  return nlohmann::json{{"kind", "List"}, {"apiVersion", "v1"}, {"items", items}}.dump(1);
}

class FileSourceTest : public ::testing::Test {
 protected:
  FileSourceTest() {
    std::string pattern = ::testing::TempDir() + "berth_fileXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = pattern;
    file_ = directory_ / "cluster.json";
  }
  ~FileSourceTest() override {
    source_.reset();
    fs::remove_all(directory_);
  }

  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  core::Result<void> start() {
    source_ = std::make_unique<FileSource>(
        FileSourceOptions{.file = file_.string(), .quiet = std::chrono::milliseconds(1)}, sink_, clock_);
    return source_->start();
  }
  bool wait_for_nodes(std::size_t count) {
    return sink_.wait([count](const auto& nodes, const auto&) { return nodes.size() == count; });
  }

  fs::path directory_;
  fs::path file_;
  core::ManualClock clock_;
  testing::UpdateRecorder sink_;
  std::unique_ptr<FileSource> source_;
};

TEST_F(FileSourceTest, PushesNodesAndPodsWhole) {
  write(file_, list_of({make_node("a"), make_pod("ns", "p", 2, "a"), make_node("b")}));
  ASSERT_TRUE(start());
  const auto told = sink_.told();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), "all nodes 2");
  EXPECT_THAT(told, Contains("all pods 1"));
  EXPECT_THAT(told, Contains("no fluid"));
  EXPECT_EQ(told.back(), "data listed");
  EXPECT_TRUE(source_->synced());
  EXPECT_TRUE(source_->connected());
  EXPECT_EQ(source_->why_not_ready(), "");
}

TEST_F(FileSourceTest, ReadsAgainWhenWrittenInPlace) {
  write(file_, list_of({make_node("a")}));
  ASSERT_TRUE(start());
  write(file_, list_of({make_node("a"), make_node("b")}));
  EXPECT_TRUE(wait_for_nodes(2));
}

TEST_F(FileSourceTest, ReadsAgainWhenAnotherFileIsMovedInItsPlace) {
  write(file_, list_of({make_node("a")}));
  ASSERT_TRUE(start());
  write(directory_ / "new", list_of({make_node("a"), make_node("b")}));
  fs::rename(directory_ / "new", file_);
  EXPECT_TRUE(wait_for_nodes(2));
}

// A ConfigMap is mounted as links: cluster.json -> ..data/cluster.json, ..data -> a directory that is swapped.
TEST_F(FileSourceTest, ReadsAgainWhenAConfigMapIsMountedAnew) {
  fs::create_directory(directory_ / "v1");
  fs::create_directory(directory_ / "v2");
  write(directory_ / "v1" / "cluster.json", list_of({make_node("a")}));
  write(directory_ / "v2" / "cluster.json", list_of({make_node("a"), make_node("b")}));
  fs::create_symlink("v1", directory_ / "..data");
  fs::create_symlink("..data/cluster.json", file_);
  ASSERT_TRUE(start());
  fs::create_symlink("v2", directory_ / "..data_tmp");
  fs::rename(directory_ / "..data_tmp", directory_ / "..data");
  EXPECT_TRUE(wait_for_nodes(2));
}

struct Neighbour {
  const char* name;
  void (*does)(const fs::path& other);
};

class FileSourceBeside : public FileSourceTest, public ::testing::WithParamInterface<Neighbour> {};

TEST_P(FileSourceBeside, ReadsAgainAllTheSame) {
  write(file_, list_of({make_node("a")}));
  const fs::path other = directory_ / "other";
  write(other, "x");
  FileSource source({.file = file_.string(), .quiet = std::chrono::milliseconds(20)}, sink_, clock_);
  ASSERT_TRUE(source.start());
  std::atomic<bool> stop = false;
  std::thread neighbour([&] {
    while (!stop) GetParam().does(other);
  });
  write(file_, list_of({make_node("a"), make_node("b")}));
  EXPECT_TRUE(wait_for_nodes(2));
  write(directory_ / "new", list_of({make_node("a"), make_node("b"), make_node("c")}));
  fs::rename(directory_ / "new", file_);
  EXPECT_TRUE(wait_for_nodes(3));
  stop = true;
  neighbour.join();
}

INSTANTIATE_TEST_SUITE_P(AFileThatAllTheTimeIs, FileSourceBeside,
                         ::testing::Values(Neighbour{"written",
                                                     [](const fs::path& other) { std::ofstream(other) << "y"; }},
                                           Neighbour{"created_and_removed",
                                                     [](const fs::path& other) {
                                                       std::ofstream(other.string() + "-new").close();
                                                       fs::remove(other.string() + "-new");
                                                     }},
                                           Neighbour{"touched",
                                                     [](const fs::path& other) {
                                                       fs::last_write_time(other, fs::file_time_type::clock::now());
                                                     }}),
                         [](const auto& test) { return test.param.name; });

TEST_F(FileSourceTest, ReadsAgainWhenSizeAndTimeOfWritingAreTheOldOnes) {
  write(file_, list_of({make_node("a", 2)}));
  const auto written = fs::last_write_time(file_);
  ASSERT_TRUE(start());
  const auto changed = [&] {
    struct stat info{};
    return stat(file_.c_str(), &info) == 0 ? std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec) : std::pair(0L, 0L);
  };
  // The clock of file systems ticks slowly.
  for (const auto before = changed(); changed() == before;) {
    write(file_, list_of({make_node("a", 4)}));
    fs::last_write_time(file_, written);
  }
  EXPECT_TRUE(sink_.wait([](const auto& nodes, const auto&) { return nodes.at("a").gpus == 4; }));
}

TEST_F(FileSourceTest, BrokenAfterAChangeKeepsTheOldStateUntilItIsGoodAgain) {
  write(file_, list_of({make_node("a")}));
  ASSERT_TRUE(start());
  write(directory_ / "new", "{\n  \"kind\": \"List\",\n  oops\n}\n");
  fs::rename(directory_ / "new", file_);
  // The good file comes only once the broken one has been seen.
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
       source_->connected() && std::chrono::steady_clock::now() < end;) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(source_->connected());
  EXPECT_FALSE(source_->counters()[0].connected);
  EXPECT_TRUE(source_->synced());
  EXPECT_THAT(source_->why_not_ready(), HasSubstr(file_.string() + ":3:"));
  EXPECT_TRUE(wait_for_nodes(1));
  write(directory_ / "new", list_of({make_node("a"), make_node("b")}));
  fs::rename(directory_ / "new", file_);
  EXPECT_TRUE(wait_for_nodes(2));
  EXPECT_TRUE(source_->connected());
  EXPECT_TRUE(source_->counters()[0].connected);
  EXPECT_EQ(source_->counters()[0].lists, 2U);
  EXPECT_EQ(source_->counters()[0].failures, 1U);
}

TEST_F(FileSourceTest, StopReturnsWhileNothingHappens) {
  write(file_, list_of({}));
  ASSERT_TRUE(start());
  source_->stop();
}

TEST_F(FileSourceTest, StandardInputIsReadOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text = list_of({make_node("a"), make_node("b")});
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(ends[1]);
  FileSource source({.file = "-", .standard_input = ends[0]}, sink_, clock_);
  ASSERT_TRUE(source.start());
  close(ends[0]);
  EXPECT_TRUE(wait_for_nodes(2));
  source.stop();
}

TEST_F(FileSourceTest, OverTheLimitIsTooLarge) {
  write(file_, list_of({make_node("a")}));
  FileSource source({.file = file_.string(), .max_bytes = 100}, sink_, clock_);
  const auto result = source.start();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, core::ErrorCode::kTooLarge);
  EXPECT_THAT(result.error().to_string(), HasSubstr(file_.string() + ": it has more than 100 bytes"));
}

TEST_F(FileSourceTest, MissingFileIsNotFound) {
  const auto result = start();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, core::ErrorCode::kNotFound);
  EXPECT_EQ(result.error().to_string(), file_.string() + ": can't open it: No such file or directory");
}

TEST_F(FileSourceTest, DirectoryIsNoFile) {
  FileSource source({.file = directory_.string()}, sink_, clock_);
  EXPECT_THAT(source.start().error().to_string(), HasSubstr("it is a directory"));
}

struct Wrong {
  const char* name;
  std::string text;
  const char* says;
};

class FileSourceRefuses : public FileSourceTest, public ::testing::WithParamInterface<Wrong> {};

TEST_P(FileSourceRefuses, InOneLineWithFileAndWhatToDo) {
  write(file_, GetParam().text);
  const auto result = start();
  ASSERT_FALSE(result);
  const std::string text = result.error().to_string();
  EXPECT_THAT(text, ::testing::StartsWith(file_.string() + ":"));
  EXPECT_THAT(text, HasSubstr(GetParam().says));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(sink_.told().empty());
  EXPECT_FALSE(source_->synced());
}

INSTANTIATE_TEST_SUITE_P(
    , FileSourceRefuses,
    ::testing::Values(Wrong{"empty", "", "it is empty; make it with kubectl get nodes,pods,pvc,"},
                      Wrong{"yaml", "apiVersion: v1\nitems: []\nkind: List\n", "use -o json instead of -o yaml"},
                      Wrong{"yaml_document", "---\nkind: List\n", "use -o json instead of -o yaml"},
                      Wrong{"table", "NAME     STATUS   ROLES\nnode-1   Ready    <none>\n", "add -o json"},
                      Wrong{"gzip", "\x1F\x8B\x08", "decompress it first"},
                      Wrong{"text", "hello\n", "not a JSON object"}, Wrong{"array", "[]", "not a JSON object"},
                      Wrong{"cut_short", "{\"kind\": \"List\",\n\"items\": [", "JSON"},
                      Wrong{"other_kind", R"({"kind": "Deployment", "apiVersion": "apps/v1"})", "Deployment"},
                      Wrong{"broken_item", R"({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": 5}}]})",
                            "items[0]"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace berth::sources
