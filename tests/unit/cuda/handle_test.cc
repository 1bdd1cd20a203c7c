// One template of tests for every class that owns a driver object.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "cuda/context.h"
#include "cuda/graph.h"
#include "cuda/managed_memory.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

constexpr size_t kSize = 4096;

// How one handle type is made, what tells two of its objects apart, and how the fake counts it.
struct ContextHandle {
  using Type = Context;
  static constexpr const char* kKind = "context";
  static constexpr const char* kMaker = "cuDevicePrimaryCtxRetain";
  static constexpr const char* kReleaser = "cuDevicePrimaryCtxRelease";
  static absl::StatusOr<Context> Make(FakeDriver& fake, const Context&) {
    return Context::Create(fake.table(), 0);
  }
  static const void* Identity(const Context& context) { return context.handle(); }
};

struct StreamHandle {
  using Type = Stream;
  static constexpr const char* kKind = "stream";
  static constexpr const char* kMaker = "cuStreamCreateWithPriority";
  static constexpr const char* kReleaser = "cuStreamDestroy";
  static absl::StatusOr<Stream> Make(FakeDriver&, const Context& context) {
    return Stream::Create(context, {});
  }
  static const void* Identity(const Stream& stream) { return stream.handle(); }
};

struct EventHandle {
  using Type = Event;
  static constexpr const char* kKind = "event";
  static constexpr const char* kMaker = "cuEventCreate";
  static constexpr const char* kReleaser = "cuEventDestroy";
  static absl::StatusOr<Event> Make(FakeDriver&, const Context& context) {
    return Event::Create(context, EventTiming::kDisabled);
  }
  static const void* Identity(const Event& event) { return event.handle(); }
};

struct AllocationHandle {
  using Type = Allocation;
  static constexpr const char* kKind = "allocation";
  static constexpr const char* kMaker = "cuMemCreate";
  static constexpr const char* kReleaser = "cuMemRelease";
  static absl::StatusOr<Allocation> Make(FakeDriver&, const Context& context) {
    return Allocation::Create(context, kSize);
  }
  static CUmemGenericAllocationHandle Identity(const Allocation& allocation) {
    return allocation.handle();
  }
};

struct AddressRangeHandle {
  using Type = AddressRange;
  static constexpr const char* kKind = "range";
  static constexpr const char* kMaker = "cuMemAddressReserve";
  static constexpr const char* kReleaser = "cuMemAddressFree";
  static absl::StatusOr<AddressRange> Make(FakeDriver&, const Context& context) {
    return AddressRange::Reserve(context, kSize);
  }
  static CUdeviceptr Identity(const AddressRange& range) { return range.address(); }
};

struct MappingHandle {
  using Type = Mapping;
  static constexpr const char* kKind = "mapping";
  static constexpr const char* kMaker = "cuMemMap";
  static constexpr const char* kReleaser = "cuMemUnmap";
  static absl::StatusOr<Mapping> Make(FakeDriver& fake, const Context& context) {
    WEFT_ASSIGN_OR_RETURN(const Allocation allocation, Allocation::Create(context, kSize));
    fake.next_reserved_address += kSize;
    return Mapping::Create(context, fake.next_reserved_address, allocation);
  }
  static CUdeviceptr Identity(const Mapping& mapping) { return mapping.address(); }
};

struct PinnedHostHandle {
  using Type = PinnedHost;
  static constexpr const char* kKind = "pinned";
  static constexpr const char* kMaker = "cuMemHostRegister";
  static constexpr const char* kReleaser = "cuMemHostUnregister";
  static absl::StatusOr<PinnedHost> Make(FakeDriver& fake, const Context& context) {
    fake.next_reserved_address += kSize;
    return PinnedHost::Register(context, reinterpret_cast<void*>(fake.next_reserved_address),
                                kSize);
  }
  static const void* Identity(const PinnedHost& pinned) { return pinned.host_address(); }
};

struct ManagedMemoryHandle {
  using Type = ManagedMemory;
  static constexpr const char* kKind = "managed";
  static constexpr const char* kMaker = "cuMemAllocManaged";
  static constexpr const char* kReleaser = "cuMemFree";
  static absl::StatusOr<ManagedMemory> Make(FakeDriver&, const Context& context) {
    return ManagedMemory::Create(context, kSize);
  }
  static CUdeviceptr Identity(const ManagedMemory& memory) { return memory.address(); }
};

struct ModuleHandle {
  using Type = Module;
  static constexpr const char* kKind = "module";
  static constexpr const char* kMaker = "cuModuleLoadData";
  static constexpr const char* kReleaser = "cuModuleUnload";
  static absl::StatusOr<Module> Make(FakeDriver&, const Context& context) {
    return Module::Load(context, "image");
  }
  static const void* Identity(const Module& module) { return module.handle(); }
};

struct GraphHandle {
  using Type = Graph;
  static constexpr const char* kKind = "graph";
  static constexpr const char* kMaker = "cuGraphCreate";
  static constexpr const char* kReleaser = "cuGraphDestroy";
  static absl::StatusOr<Graph> Make(FakeDriver&, const Context& context) {
    return Graph::Create(context);
  }
  static const void* Identity(const Graph& graph) { return graph.handle(); }
};

struct GraphExecHandle {
  using Type = GraphExec;
  static constexpr const char* kKind = "exec";
  static constexpr const char* kMaker = "cuGraphInstantiateWithFlags";
  static constexpr const char* kReleaser = "cuGraphExecDestroy";
  static absl::StatusOr<GraphExec> Make(FakeDriver&, const Context& context) {
    WEFT_ASSIGN_OR_RETURN(const Graph graph, Graph::Create(context));
    return graph.Instantiate();
  }
  static const void* Identity(const GraphExec& exec) { return exec.handle(); }
};

template <typename Handle>
class HandleTest : public ::testing::Test {
 protected:
  using Type = typename Handle::Type;

  Type Make() { return Handle::Make(fake_, context_).value(); }
  // Objects of the kind under test, without the context that every test has.
  int Live() const { return fake_.live(Handle::kKind) - (std::is_same_v<Type, Context> ? 1 : 0); }

  FakeDriver fake_;
  Context context_ = fake_.MakeContext();
};

using HandleTypes =
    ::testing::Types<ContextHandle, StreamHandle, EventHandle, AllocationHandle, AddressRangeHandle,
                     MappingHandle, PinnedHostHandle, ManagedMemoryHandle, ModuleHandle,
                     GraphHandle, GraphExecHandle>;

class HandleNames {
 public:
  template <typename Handle>
  static std::string GetName(int) {
    return Handle::kKind;
  }
};
TYPED_TEST_SUITE(HandleTest, HandleTypes, HandleNames);

TYPED_TEST(HandleTest, IsReleasedOnce) {
  {
    const typename TypeParam::Type object = this->Make();
    EXPECT_TRUE(object.valid());
    EXPECT_EQ(this->Live(), 1);
  }
  EXPECT_EQ(this->Live(), 0);
  EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 1);
}

TYPED_TEST(HandleTest, MoveConstructionEmptiesTheSource) {
  typename TypeParam::Type source = this->Make();
  const auto identity = TypeParam::Identity(source);
  {
    const typename TypeParam::Type target = std::move(source);
    EXPECT_FALSE(source.valid());  // NOLINT(bugprone-use-after-move): what is tested
    EXPECT_EQ(TypeParam::Identity(target), identity);
    EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 0);
  }
  EXPECT_EQ(this->Live(), 0);
}

TYPED_TEST(HandleTest, MoveAssignmentReleasesTheOldObject) {
  typename TypeParam::Type target = this->Make();
  typename TypeParam::Type source = this->Make();
  const auto identity = TypeParam::Identity(source);
  target = std::move(source);
  EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 1);
  EXPECT_EQ(this->Live(), 1);
  EXPECT_FALSE(source.valid());  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(TypeParam::Identity(target), identity);
}

TYPED_TEST(HandleTest, SelfMoveChangesNothing) {
  typename TypeParam::Type object = this->Make();
  const auto identity = TypeParam::Identity(object);
  typename TypeParam::Type& same = object;
  object = std::move(same);
  EXPECT_TRUE(object.valid());
  EXPECT_EQ(TypeParam::Identity(object), identity);
  EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 0);
}

TYPED_TEST(HandleTest, FailedMakingOwnsNothing) {
  this->fake_.Fail(TypeParam::kMaker, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(TypeParam::Make(this->fake_, this->context_),
              testing::StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(this->Live(), 0);
  EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 0);
}

TYPED_TEST(HandleTest, FailedReleaseIsCountedAndNotRepeated) {
  {
    typename TypeParam::Type object = this->Make();
    this->fake_.Fail(TypeParam::kReleaser, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  EXPECT_EQ(this->fake_.table().release_error_count, 1u);
  EXPECT_EQ(this->fake_.calls(TypeParam::kReleaser), 1);
}

TYPED_TEST(HandleTest, LeavesTheCurrentContextAsItWas) {
  { const typename TypeParam::Type object = this->Make(); }
  EXPECT_TRUE(this->fake_.context_stack.empty());
}

}  // namespace
}  // namespace weft::cuda
