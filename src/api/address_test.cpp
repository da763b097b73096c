#include "api/address.h"

#include <gtest/gtest.h>

namespace partita::api {
namespace {

TEST(Address, AUnixSocketIsAPathWithOrWithoutItsFront) {
  EXPECT_EQ(parse_address("unix:/run/x")->path, "/run/x");
  EXPECT_EQ(parse_address("/run/x")->path, "/run/x");
  EXPECT_EQ(text_of(*parse_address("/run/x")), "unix:/run/x");
  for (const char* bad : {"", "unix:", "udp:x", "http://x"}) {
    EXPECT_FALSE(parse_address(bad).ok()) << bad;
  }
}

TEST(Address, OnTcpOnlyTheMachineItselfIsServed) {
  for (const char* good : {"tcp:127.0.0.1:7070", "tcp:127.8.9.10:1", "tcp:[::1]:65535"}) {
    const Result<Address> address = parse_address(good);
    ASSERT_TRUE(address.ok()) << good;
    EXPECT_EQ(text_of(*address), good);
  }
  EXPECT_EQ(parse_address("tcp:localhost:80")->host, "127.0.0.1");
  for (const char* bad :
       {"tcp:0.0.0.0:7070", "tcp:10.0.0.1:7070", "tcp:[::]:7070", "tcp:192.168.1.1:80",
        "tcp:example.com:80", "tcp:128.0.0.1:80", "tcp:126.255.255.255:80", "tcp::80",
        "tcp:[::ffff:127.0.0.1]:80", "tcp:127.1:80", "tcp:0x7f000001:80"}) {
    const Result<Address> address = parse_address(bad);
    ASSERT_FALSE(address.ok()) << bad;
    EXPECT_NE(address.error().message.find("loopback"), std::string::npos) << bad;
  }
  for (const char* bad : {"tcp:127.0.0.1", "tcp:127.0.0.1:", "tcp:127.0.0.1:65536",
                          "tcp:127.0.0.1:-1", "tcp:127.0.0.1:08", "tcp:127.0.0.1:+8"}) {
    EXPECT_FALSE(parse_address(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace partita::api
