#include "cuda/host/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace weft::hostcuda {
namespace {

using Table = HandleTable<int>;

TEST(HandleTableTest, HandleFindsItsObjectUntilItIsRemoved) {
  Table table(HandleKind::kStream, 1);
  const uint64_t handle = table.Insert(std::make_shared<int>(7));
  ASSERT_NE(table.Find(handle), nullptr);
  EXPECT_EQ(*table.Find(handle), 7);
  EXPECT_EQ(*table.Remove(handle), 7);
  EXPECT_EQ(table.Find(handle), nullptr);
}

TEST(HandleTableTest, SecondRemoveFindsNothing) {
  Table table(HandleKind::kStream, 1);
  const uint64_t handle = table.Insert(std::make_shared<int>(7));
  table.Remove(handle);
  EXPECT_EQ(table.Remove(handle), nullptr);
}

TEST(HandleTableTest, StaleHandleDoesNotFindTheNextObjectOfItsSlot) {
  Table table(HandleKind::kStream, 1);
  const uint64_t stale = table.Insert(std::make_shared<int>(1));
  table.Remove(stale);
  const uint64_t fresh = table.Insert(std::make_shared<int>(2));
  EXPECT_NE(stale, fresh);
  EXPECT_EQ(table.Find(stale), nullptr);
  EXPECT_EQ(*table.Find(fresh), 2);
}

TEST(HandleTableTest, MadeUpHandlesFindNothing) {
  Table table(HandleKind::kStream, 1);
  const uint64_t handle = table.Insert(std::make_shared<int>(1));
  for (const uint64_t made_up : {uint64_t{0}, uint64_t{1}, uint64_t{2}, ~uint64_t{0}, handle + 1,
                                 handle - 1, handle ^ (uint64_t{1} << 33), handle >> 8}) {
    EXPECT_EQ(table.Find(made_up), nullptr) << made_up;
  }
}

TEST(HandleTableTest, HandleOfAnotherKindFindsNothing) {
  Table streams(HandleKind::kStream, 1);
  Table events(HandleKind::kEvent, 1);
  const uint64_t stream = streams.Insert(std::make_shared<int>(1));
  events.Insert(std::make_shared<int>(2));
  EXPECT_EQ(events.Find(stream), nullptr);
}

TEST(HandleTableTest, HandleOfAnEarlierTableFindsNothing) {
  Table earlier(HandleKind::kStream, 1);
  const uint64_t handle = earlier.Insert(std::make_shared<int>(1));
  Table later(HandleKind::kStream, 1 << 16);
  later.Insert(std::make_shared<int>(2));
  EXPECT_EQ(later.Find(handle), nullptr);
}

TEST(HandleTableTest, RemoveIfEndsTheHandlesThatMatch) {
  Table table(HandleKind::kStream, 1);
  std::vector<uint64_t> handles;
  for (int i = 0; i < 4; ++i) handles.push_back(table.Insert(std::make_shared<int>(i)));
  EXPECT_EQ(table.RemoveIf([](int value) { return value % 2 == 0; }).size(), 2u);
  EXPECT_EQ(table.Find(handles[0]), nullptr);
  EXPECT_EQ(*table.Find(handles[1]), 1);
}

}  // namespace
}  // namespace weft::hostcuda
