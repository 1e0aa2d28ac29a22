#include "base/errno_error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace weir {
namespace {

TEST(ErrnoError, WhatIsMissingThereAlreadyOrWithoutRoomHasAMeaningOfItsOwnAndTheRestNamesItsErrno) {
  EXPECT_EQ(error_of_errno(ENOENT), (Error{Errc::not_found, ENOENT}));
  EXPECT_EQ(error_of_errno(EEXIST), (Error{Errc::already_exists, EEXIST}));
  EXPECT_EQ(error_of_errno(ENOSPC).code, Errc::disk_full);
  EXPECT_EQ(error_of_errno(EDQUOT).code, Errc::disk_full);
  EXPECT_EQ(error_of_errno(EIO), (Error{Errc::disk_failed, EIO}));
  EXPECT_EQ(error_of_errno(EROFS), (Error{Errc::disk_failed, EROFS}));
}

TEST(ErrnoError, DescriptorsAndMemoryThatRunOutAreNoVerdictAboutTheDisk) {
  for (const int number : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN}) {
    EXPECT_EQ(error_of_errno(number), (Error{Errc::out_of_resources, number}));
    EXPECT_TRUE(is_shortage(error_of_errno(number)));
  }
  EXPECT_TRUE(is_shortage(error_of_errno(ENOSPC)));
  EXPECT_FALSE(is_shortage(error_of_errno(EIO)));
}

TEST(ErrnoError, ASyncThatFailedHasFailedWhateverTheErrnoIs) {
  for (const int number : {EIO, ENOSPC, EDQUOT, ENOMEM, EMFILE, EROFS}) {
    EXPECT_EQ(error_of_failed_sync(number), (Error{Errc::disk_failed, number}));
    EXPECT_FALSE(is_shortage(error_of_failed_sync(number)));
  }
}

TEST(ErrnoError, AFolderOrAPipeIsNoFileAndAFailingDiskIsNone) {
  EXPECT_TRUE(is_of_no_file(error_of_errno(EISDIR)));
  EXPECT_TRUE(is_of_no_file(error_of_errno(ENXIO)));
  EXPECT_FALSE(is_of_no_file(error_of_errno(EIO)));
  EXPECT_FALSE(is_of_no_file({Errc::unsupported, EISDIR}));
}

TEST(ErrnoError, AnErrnoIsToldInTheWordsOfTheSystem) {
  EXPECT_EQ(to_string(error_of_errno(EMFILE)), "out of resources: Too many open files (errno 24)");
  EXPECT_EQ(to_string(error_of_errno(EIO)), "disk failed: Input/output error (errno 5)");
}

}  // namespace
}  // namespace weir
