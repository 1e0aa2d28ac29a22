// Operations on files that fail or hang, for a program that this is preloaded into, while it runs. The file that the
// variable OUTAGE_FAULTS names is mapped; another process (faults.py) writes there which operations on which files get
// which errno from now on. An errno of 0 makes them wait until the fault is taken back.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { kSync = 1, kWrite = 2, kOpen = 4, kCreate = 8, kAllocate = 16, kStatvfs = 32, kRename = 64 };

// faults.py has the same layout.
struct control {
  atomic_uint armed;
  uint32_t operations;
  int32_t number;       // the errno; 0: wait
  atomic_int skip;      // so many go well before the first that does not
  atomic_int times;     // so many fail; a negative number: all
  atomic_uint hits;     // failed, or began to wait
  atomic_uint held;     // wait now
  uint32_t reserved;
  char part[64];        // of the path
  char ending[32];      // of the path
};
static struct control *control;

__attribute__((constructor)) static void map_control(void) {
  const char *name = getenv("OUTAGE_FAULTS");
  int file = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC);
  if (file >= 0) {
    void *memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    control = memory == MAP_FAILED ? NULL : memory;
    close(file);
  }
}

static void wait_until_taken_back(void) {
  atomic_fetch_add(&control->held, 1);
  while (atomic_load(&control->armed)) {
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
  }
  atomic_fetch_sub(&control->held, 1);
}

static int is_meant(const char *path) {
  const size_t length = strlen(path), ending = strnlen(control->ending, sizeof control->ending);
  return strstr(path, control->part) != NULL && length >= ending && strcmp(path + length - ending, control->ending) == 0;
}

// 1: the call fails, and errno is set.
static int is_struck(unsigned operation, const char *path, int descriptor) {
  if (control == NULL || !atomic_load(&control->armed) || !(control->operations & operation)) {
    return 0;
  }
  const int before = errno;
  char link[64], name[PATH_MAX];
  if (path == NULL) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t size = readlink(link, name, sizeof name - 1);
    if (size < 0) {
      errno = before;
      return 0;
    }
    name[size] = '\0';
    path = name;
  }
  errno = before;
  if (!is_meant(path) || atomic_fetch_sub(&control->skip, 1) > 0) {
    return 0;
  }
  if (control->number == 0) {
    atomic_fetch_add(&control->hits, 1);
    wait_until_taken_back();
    return 0;
  }
  if (atomic_load(&control->times) >= 0 && atomic_fetch_sub(&control->times, 1) <= 0) {
    atomic_store(&control->times, 0);
    return 0;
  }
  atomic_fetch_add(&control->hits, 1);
  errno = control->number;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int file) {
  return is_struck(kSync, NULL, file) ? -1 : NEXT(fsync)(file);
}

int fdatasync(int file) {
  return is_struck(kSync, NULL, file) ? -1 : NEXT(fdatasync)(file);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  return is_struck(kWrite, NULL, file) ? -1 : NEXT(pwrite)(file, data, size, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
  return is_struck(kWrite, NULL, file) ? -1 : NEXT(pwritev)(file, parts, count, at);
}

int fallocate(int file, int mode, off_t at, off_t size) {
  return is_struck(kAllocate, NULL, file) ? -1 : NEXT(fallocate)(file, mode, at, size);
}

int ftruncate(int file, off_t size) {
  struct stat now;
  const int grows = fstat(file, &now) == 0 && size > now.st_size;
  return grows && is_struck(kAllocate, NULL, file) ? -1 : NEXT(ftruncate)(file, size);
}

int rename(const char *from, const char *to) {
  return is_struck(kRename, to, -1) ? -1 : NEXT(rename)(from, to);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_struck(kOpen, path, -1) || ((flags & O_CREAT) && is_struck(kCreate, path, -1))) {
    return -1;
  }
  return NEXT(open)(path, flags, mode);
}

// A volume without room tells so.
int statvfs(const char *path, struct statvfs *volume) {
  const int before = errno;
  const int is_full = is_struck(kStatvfs, path, -1);
  errno = before;
  const int result = NEXT(statvfs)(path, volume);
  if (is_full && result == 0) {
    volume->f_bavail = volume->f_bfree = 0;
  }
  return result;
}

// The same under the names that programs with large files call.
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) __attribute__((alias("pwrite")));
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) __attribute__((alias("pwritev")));
int fallocate64(int file, int mode, off64_t at, off64_t size) __attribute__((alias("fallocate")));
int ftruncate64(int file, off64_t size) __attribute__((alias("ftruncate")));
int statvfs64(const char *path, struct statvfs64 *volume) __attribute__((alias("statvfs")));
