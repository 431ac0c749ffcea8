#include <gtest/gtest.h>

#include "berth/policy/recommend.h"

namespace berth::policy {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> nodes;
  const char* list;
};

class SlurmNodeList : public testing::TestWithParam<Case> {};

// The expected forms are those that `scontrol show hostnames` takes apart into the names again.
INSTANTIATE_TEST_SUITE_P(
    Table, SlurmNodeList,
    testing::Values(
        Case{"nothing", {}, ""}, Case{"one name", {"login"}, "login"}, Case{"one number", {"n7"}, "n7"},
        Case{"a range and a number", {"n003", "n007", "n001", "n002"}, "n[001-003,007]"},
        Case{"two in a row", {"n2", "n1"}, "n[1-2]"}, Case{"two apart", {"n4", "n1"}, "n[1,4]"},
        Case{"a name given twice", {"n1", "n1", "n2"}, "n[1-2]"},
        Case{"plain numbers grow wider", {"n9", "n10", "n8", "n11"}, "n[8-11]"},
        Case{"padded numbers keep their width", {"n09", "n10", "n08"}, "n[08-10]"},
        Case{"99 to 100, padded to three", {"n099", "n100"}, "n[099-100]"},
        Case{"widths do not mix", {"n9", "n010", "n011"}, "n[9,010-011]"},
        Case{"a name with and without a number", {"gpu1", "gpu"}, "gpu,gpu1"},
        Case{"several groups", {"h100-b", "a100-02", "a100-01", "h100-a"}, "a100-[01-02],h100-a,h100-b"},
        Case{"digits inside a name", {"r1n2", "r1n3", "r2n2"}, "r1n[2-3],r2n2"},
        Case{"only a number", {"7", "8"}, "[7-8]"},
        Case{"a number beyond 64 bits is a name", {"n99999999999999999999", "n1"}, "n1,n99999999999999999999"},
        Case{"what a host list can't hold", {"n1", "n[2]", "a,b", "", "n 3"}, "n1"},
        Case{"domain names", {"n1.example.com", "n2.example.com"}, "n1.example.com,n2.example.com"}),
    [](const auto& one) {
      std::string name = one.param.name;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

TEST_P(SlurmNodeList, AsSlurmWritesIt) { EXPECT_EQ(slurm_node_list(GetParam().nodes), GetParam().list); }

}  // namespace
}  // namespace berth::policy
