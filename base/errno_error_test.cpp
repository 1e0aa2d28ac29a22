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

}  // namespace
}  // namespace weir
