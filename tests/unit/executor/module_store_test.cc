#include "server/executor/module_store.h"

#include "cuda/module.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/executor/test_device.h"

namespace weft::executor {
namespace {

using ::testing::HasSubstr;
using weft::testing::ReadFile;
using weft::testing::StatusIs;

TEST(ModuleStoreTest, FunctionsAreFoundByNameAndCached) {
  const cuda::Context context = MakeContext();
  ModuleStore store(context);
  ASSERT_OK(store.Load("test", ReadFile(TestImagePath())));
  ASSERT_OK_AND_ASSIGN(const cuda::Function first, store.Resolve("increment"));
  ASSERT_OK_AND_ASSIGN(const cuda::Function second, store.Resolve("increment"));
  EXPECT_EQ(first.handle(), second.handle());
  EXPECT_THAT(store.Resolve("nothing"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"nothing\"")));
}

TEST(ModuleStoreTest, AnImageIsLoadedOnce) {
  const cuda::Context context = MakeContext();
  ModuleStore store(context);
  ASSERT_OK(store.Load("test", ReadFile(TestImagePath())));
  ASSERT_OK(store.Load("test", "not even an image"));
  EXPECT_OK(store.Resolve("increment"));
}

TEST(ModuleStoreTest, ABrokenImageIsNamed) {
  const cuda::Context context = MakeContext();
  ModuleStore store(context);
  const absl::Status status = store.Load("broken", "not an image");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"broken\""));
  EXPECT_THAT(store.Resolve("increment"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace weft::executor
