// Memory that runs out, for a program that this is preloaded into. From the first call of mallopt() on, with which
// `weir serve` begins, allocations of FAIL_SIZE_MIN bytes and more are counted; number FAIL_FROM and all later ones get
// nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long left = -1;  // -1: does not count yet
static size_t size_min;
static atomic_int fails;

static int is_refused(size_t size) {
  if (!atomic_load_explicit(&fails, memory_order_relaxed) || size < size_min) {
    return 0;
  }
  if (atomic_fetch_sub(&left, 1) > 1) {
    return 0;
  }
  atomic_store(&left, 1);
  errno = ENOMEM;
  return 1;
}

int mallopt(int parameter, int value) {
  if (!atomic_load(&fails) && getenv("FAIL_FROM") != NULL) {
    size_min = strtoul(getenv("FAIL_SIZE_MIN"), NULL, 10);
    atomic_store(&left, strtol(getenv("FAIL_FROM"), NULL, 10));
    atomic_store(&fails, 1);
  }
  int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "mallopt");
  return next(parameter, value);
}

void *malloc(size_t size) {
  return is_refused(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return is_refused(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  return is_refused(size) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return is_refused(size) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = is_refused(size) ? NULL : __libc_memalign(alignment, size);
  return *memory != NULL ? 0 : ENOMEM;
}
