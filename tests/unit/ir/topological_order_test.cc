#include "graph/ir/topological_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Digraph Make(const std::vector<std::vector<uint32_t>>& predecessors) {
  Digraph graph;
  for (const auto& of_vertex : predecessors) {
    graph.predecessors.insert(graph.predecessors.end(), of_vertex.begin(), of_vertex.end());
    graph.EndVertex();
  }
  return graph;
}

TEST(TopologicalOrderTest, KeepsTheNumberingWhereEdgesLeadForward) {
  EXPECT_THAT(OrderOf(Make({{}, {0}, {0}, {1, 2}})).order, ElementsAre(0, 1, 2, 3));
}

TEST(TopologicalOrderTest, LowestReadyVertexComesFirst) {
  EXPECT_THAT(OrderOf(Make({{3}, {}, {0}, {}})).order, ElementsAre(1, 3, 0, 2));
}

TEST(TopologicalOrderTest, EmptyGraphHasAnEmptyOrder) {
  const TopologicalOrder result = OrderOf(Digraph());
  EXPECT_THAT(result.order, IsEmpty());
  EXPECT_THAT(result.cycle, IsEmpty());
}

TEST(TopologicalOrderTest, NamesACycleInOrderFromItsLowestVertex) {
  // 3 waits for 1, 1 waits for 4, 4 waits for 3; 0 and 2 are bystanders behind it.
  const TopologicalOrder result = OrderOf(Make({{4}, {4}, {1}, {1}, {3}}));
  EXPECT_THAT(result.order, IsEmpty());
  EXPECT_THAT(result.cycle, ElementsAre(1, 3, 4));
}

TEST(TopologicalOrderTest, VertexThatWaitsForItselfIsACycleOfOne) {
  EXPECT_THAT(OrderOf(Make({{}, {1}})).cycle, ElementsAre(1));
}

TEST(TopologicalOrderTest, RepeatedEdgesCountOnce) {
  EXPECT_THAT(OrderOf(Make({{1, 1}, {}})).order, ElementsAre(1, 0));
}

}  // namespace
}  // namespace weft::ir
