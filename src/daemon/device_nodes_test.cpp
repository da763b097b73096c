#include "daemon/device_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/test_support.h"

namespace partita::daemon {
namespace {

namespace fs = std::filesystem;

// Files of the driver as an H200 with driver 580 has them, with two GPUs and slices put in.
class DeviceNodes : public testing::Test {
 protected:
  DeviceNodes() {
    write("devices",
          "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n238 nvidia-uvm\n"
          "241 nvidia-caps\n242 nvidia-caps-imex-channels\n\nBlock devices:\n259 nvidia-caps\n");
    write("driver/nvidia/gpus/0000:00:06.0/information",
          "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-b\nDevice Minor: \t 1\n");
    write("driver/nvidia/gpus/0000:00:07.0/information",
          "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-a\nDevice Minor: \t 0\n");
    capability("mig/config", 1);
    capability("mig/monitor", 2);
    capability("gpu0/mig/gi1/access", 12);
    capability("gpu0/mig/gi1/ci0/access", 13);
    capability("gpu0/mig/gi2/access", 21);
    capability("gpu0/mig/gi2/ci0/access", 22);
    capability("gpu0/mig/gi2/ci1/access", 23);
    capability("gpu1/mig/gi1/access", 147);
    capability("gpu1/mig/gi1/ci0/access", 148);
  }
  void write(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void capability(const std::string& name, int minor) {
    write("driver/nvidia/capabilities/" + name, "DeviceFileMinor: " + std::to_string(minor) +
                                                    "\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
  }
  std::vector<std::uint32_t> allowed(const std::string& gpu, std::uint32_t gi,
                                     std::uint32_t major) {
    const auto rules = device_rules(folder_.path(), gpu, gi);
    EXPECT_TRUE(rules.ok());
    std::vector<std::uint32_t> minors;
    for (const launch::DeviceNode& node : rules->allowed) {
      if (node.major == major) minors.push_back(node.minor);
    }
    std::ranges::sort(minors);
    return minors;
  }

  store::test::TemporaryFolder folder_;
};

using Minors = std::vector<std::uint32_t>;

TEST_F(DeviceNodes, AJobGetsItsOwnInstancesAndNeitherOthersNorTheRightToCut) {
  EXPECT_EQ(device_rules(folder_.path(), "GPU-a", 1)->governed, (Minors{195, 241}));
  EXPECT_EQ(allowed("GPU-a", 1, 241), (Minors{12, 13}));
  EXPECT_EQ(allowed("GPU-a", 2, 241), (Minors{21, 22, 23}));
  EXPECT_EQ(allowed("GPU-b", 1, 241), (Minors{147, 148}));
  // The GPU is found by its UUID: numbers of the driver and of its nodes may differ.
  EXPECT_EQ(allowed("GPU-a", 1, 195), (Minors{0, 255}));
  EXPECT_EQ(allowed("GPU-b", 1, 195), (Minors{1, 255}));
}

TEST_F(DeviceNodes, WhatIsNotKnownGivesASentenceAndNoRules) {
  EXPECT_FALSE(device_rules(folder_.path(), "GPU-c", 1).ok());
  EXPECT_FALSE(device_rules(folder_.path(), "GPU-a", 9).ok());
  fs::remove(folder_.path() + "/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access");
  EXPECT_FALSE(device_rules(folder_.path(), "GPU-a", 1).ok());
  fs::remove(folder_.path() + "/devices");
  EXPECT_FALSE(device_rules(folder_.path(), "GPU-b", 1).ok());
}

}  // namespace
}  // namespace partita::daemon
