#include "../src/agent/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "support/temp_dir.h"

namespace berth::agent {
namespace {

using core::ErrorCode;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kSoon{300};

class CommandTest : public ::testing::Test {
 protected:
  std::string script(const std::string& text) const {
    const std::string path = directory_.write("program", "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // The number that the script wrote into `name`.
  pid_t pid_in(const std::string& name) const {
    pid_t pid = 0;
    std::ifstream(directory_.path(name)) >> pid;
    return pid;
  }
  // Whether the process is gone, or a zombie that nobody has buried, within 30 s.
  static bool ends(pid_t pid) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (pid > 0 && std::chrono::steady_clock::now() < until) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, state;
      if (!(file >> number >> name >> state) || state == "Z") return true;
      std::this_thread::yield();
    }
    return false;
  }
  tests::TempDir directory_;
  net::Cancellation cancellation_;
};

TEST_F(CommandTest, BothOutputsAndTheExitStatus) {
  Command command(script("echo \"got $1 $2\"; echo 'bad thing' >&2; echo more >&2; exit 9\n"), {});
  const auto output = command.run({"a", "b c; echo no shell"}, cancellation_);
  ASSERT_TRUE(output.has_value()) << output.error().to_string();
  EXPECT_EQ(output->out, "got a b c; echo no shell\n");
  EXPECT_EQ(output->exit_status, 9);
  EXPECT_EQ(output->summary(), "exit status 9: bad thing");
}

TEST_F(CommandTest, ProgramThatIsNotThere) {
  Command command(directory_.path("nothing"), {});
  const auto output = command.run({}, cancellation_);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::kNotFound);
}

TEST_F(CommandTest, StandardInputIsEmptyAndNoFileIsInherited) {
  Command command(script("cat; ls /proc/self/fd | wc -l\n"), {});
  const auto output = command.run({}, cancellation_);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->out, "4\n");  // 0, 1, 2, and the directory that ls reads
}

TEST_F(CommandTest, ProgramThatHangsIsKilledWithItsChildren) {
  Command command(script("tail -f /dev/null &\necho $! >\"${0%/*}/child\"\nwait\n"), {.deadline = kSoon});
  const auto output = command.run({}, cancellation_);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(output.error().message, HasSubstr("300 ms"));
  EXPECT_TRUE(ends(pid_in("child")));
}

TEST_F(CommandTest, ProgramThatClosesItsOutputsAndStays) {
  Command command(script("exec >/dev/null 2>&1; exec tail -f /dev/null\n"), {.deadline = kSoon});
  const auto output = command.run({}, cancellation_);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::kTimeout);
}

TEST_F(CommandTest, OutputWithoutEndIsCut) {
  Command command(script("exec cat /dev/zero\n"), {.output_bytes = 100'000});
  const auto output = command.run({}, cancellation_);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::kTooLarge);
}

TEST_F(CommandTest, ErrorsWithoutEndAreNotKept) {
  Command command(script("head -c 1000000 /dev/zero >&2; echo done\n"), {});
  const auto output = command.run({}, cancellation_);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->out, "done\n");
  EXPECT_EQ(output->errors.size(), 4'096U);
}

TEST_F(CommandTest, CancelEndsTheWait) {
  Command command(script("echo $$ >\"${0%/*}/started.new\"; mv \"${0%/*}/started.new\" \"${0%/*}/started\"\n"
                         "exec tail -f /dev/null\n"),
                  {});
  std::thread canceller([&] {
    while (pid_in("started") == 0) std::this_thread::yield();
    cancellation_.cancel();
  });
  const auto output = command.run({}, cancellation_);
  canceller.join();
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(ends(pid_in("started")));
}

TEST_F(CommandTest, SignalThatEndedIt) {
  Command command(script("kill -SEGV $$\n"), {});
  const auto output = command.run({}, cancellation_);
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->exit_status, 128 + SIGSEGV);
}

}  // namespace
}  // namespace berth::agent
