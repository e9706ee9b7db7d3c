#include "journal/database.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>

#include <string>

#include "journal/journal.h"
#include "journal/journal_testing.h"

namespace gpubinder {
namespace {

// spec: what RocksDB does by default opens without a word with half of the
// synced records after one flipped bit.
TEST(DatabaseTest, TheOpenDatabaseHasTheOptionsThatFindDamage) {
  TestDirectory tests;
  const std::string directory = tests.New("j");
  Journal::Open(TestOptions(directory))->reset();
  const auto database =
      Database::Open({directory + "/db", DatabaseMode::kWrite, 1 << 20,
                      rocksdb::FileSystem::Default()});
  ASSERT_TRUE(database.ok()) << database.status();
  const rocksdb::DBOptions o = (*database)->rocksdb().GetDBOptions();
  EXPECT_EQ(o.wal_recovery_mode,
            rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords);
  EXPECT_TRUE(o.track_and_verify_wals_in_manifest);
  EXPECT_EQ(o.recycle_log_file_num, 0u);
  EXPECT_TRUE(o.paranoid_checks);
  EXPECT_EQ(o.wal_compression, rocksdb::kNoCompression);
  EXPECT_EQ(o.max_bgerror_resume_count, 0);
  EXPECT_FALSE(o.avoid_flush_during_recovery);
  for (rocksdb::ColumnFamilyHandle* family : (*database)->families()) {
    const rocksdb::Options f = (*database)->rocksdb().GetOptions(family);
    const auto* table =
        f.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->checksum, rocksdb::kXXH3);
    EXPECT_EQ(table->block_size, 65536u);
    EXPECT_EQ(table->filter_policy, nullptr);
    EXPECT_FALSE(f.enable_blob_files);
    EXPECT_EQ(f.write_buffer_size, 4u << 20);
  }
}

TEST(DatabaseTest, TheFamiliesAreThoseOfTheFormat) {
  TestDirectory tests;
  const std::string directory = tests.New("j");
  Journal::Open(TestOptions(directory))->reset();
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(),
                                              directory + "/db", &names)
                  .ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "records",
                                             "checkpoints", "meta"}));
}

}  // namespace
}  // namespace gpubinder
