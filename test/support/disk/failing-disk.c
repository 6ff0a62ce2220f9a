/*
 * Preloaded library for tests: operations that write below one folder fail, from one that the test chooses on. The memory of a control
 * file is shared with the test, so that it counts and arms while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fwrite_unlocked

struct control {
  int64_t seen;   /* operations so far */
  int64_t first;  /* number of the first that fails; 0: none */
  int64_t count;  /* how many fail; 0: all later ones */
  int64_t error;  /* errno */
  int64_t failed; /* how many failed */
};

static struct control *control;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAILING_DISK_CONTROL");
  folder = getenv("FAILING_DISK_FOLDER");
  if (path == NULL || folder == NULL) return;
  folder_length = strlen(folder);
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) control = memory;
}

static int is_below(const char *path) {
  return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

static int is_watched(int at, const char *path) {
  char link[64], place[PATH_MAX];
  if (control == NULL) return 0;
  if (path != NULL && path[0] == '/') return is_below(path);
  if (path != NULL && at == AT_FDCWD) return getcwd(place, sizeof place) != NULL && is_below(place);
  snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  ssize_t length = readlink(link, place, sizeof place - 1);
  if (length < 0) return 0;
  place[length] = 0;
  return is_below(place);
}

/* 0: done as usual; 1: the first one that fails; 2: a later one. */
static int fate(void) {
  int64_t number = __atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST);
  int64_t first = __atomic_load_n(&control->first, __ATOMIC_SEQ_CST);
  int64_t count = __atomic_load_n(&control->count, __ATOMIC_SEQ_CST);
  if (first == 0 || number < first || (count != 0 && number >= first + count)) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  return number == first ? 1 : 2;
}

static int fails(int at, const char *path) {
  if (!is_watched(at, path) || fate() == 0) return 0;
  errno = (int)control->error;
  return 1;
}

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (next == NULL) next = dlsym(RTLD_NEXT, #name)

/* A disk that becomes full takes a part of a write first; the caller then writes the rest, which fails. */
#define WRITE(name, shorter, ...) \
  NEXT(name); \
  if (is_watched(fd, NULL)) { \
    int how = fate(); \
    if (how == 1 && control->error == ENOSPC && control->count != 1 && size > 1) return shorter; \
    if (how != 0) { errno = (int)control->error; return -1; } \
  } \
  return next(__VA_ARGS__)

ssize_t write(int fd, const void *bytes, size_t size) { WRITE(write, next(fd, bytes, size / 2), fd, bytes, size); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { WRITE(pwrite, next(fd, bytes, size / 2, at), fd, bytes, size, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { WRITE(pwrite64, next(fd, bytes, size / 2, at), fd, bytes, size, at); }

/* LevelDB writes by streams, whose own writes cannot be seen: without their buffer each is a write of the above. */
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *stream) {
  NEXT(fwrite_unlocked);
  int fd = fileno(stream);
  if (!is_watched(fd, NULL)) return next(bytes, size, count, stream);
  for (size_t done = 0; done < size * count;) {
    ssize_t written = write(fd, (const char *)bytes + done, size * count - done);
    if (written < 0) return done / size;
    done += (size_t)written;
  }
  return count;
}

#define VECTOR(name, ...) \
  NEXT(name); \
  if (fails(fd, NULL)) return -1; \
  return next(__VA_ARGS__)

ssize_t writev(int fd, const struct iovec *parts, int count) { VECTOR(writev, fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { VECTOR(pwritev, fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { VECTOR(pwritev64, fd, parts, count, at); }
int fsync(int fd) { VECTOR(fsync, fd); }
int fdatasync(int fd) { VECTOR(fdatasync, fd); }
int ftruncate(int fd, off_t size) { VECTOR(ftruncate, fd, size); }
int ftruncate64(int fd, off64_t size) { VECTOR(ftruncate64, fd, size); }
int fallocate(int fd, int mode, off_t at, off_t size) { VECTOR(fallocate, fd, mode, at, size); }
int fallocate64(int fd, int mode, off64_t at, off64_t size) { VECTOR(fallocate64, fd, mode, at, size); }

int rename(const char *from, const char *to) {
  NEXT(rename);
  return fails(AT_FDCWD, to) ? -1 : next(from, to);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  return fails(AT_FDCWD, path) ? -1 : next(path, mode);
}

/* A full disk still removes files; a failing or read-only one does not. */
int unlink(const char *path) {
  NEXT(unlink);
  if (control != NULL && control->error != ENOSPC && fails(AT_FDCWD, path)) return -1;
  return next(path);
}

static int makes(int at, const char *path, int flags) {
  if (control == NULL || (flags & (O_CREAT | O_TRUNC)) == 0) return 0;
  return fails(at, path);
}

#define MODE(flags, last) \
  mode_t mode = 0; \
  if ((flags & O_CREAT) != 0) { va_list rest; va_start(rest, last); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) {
  NEXT(open);
  MODE(flags, flags)
  return makes(AT_FDCWD, path, flags) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  NEXT(open64);
  MODE(flags, flags)
  return makes(AT_FDCWD, path, flags) ? -1 : next(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  NEXT(openat);
  MODE(flags, flags)
  return makes(at, path, flags) ? -1 : next(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  NEXT(openat64);
  MODE(flags, flags)
  return makes(at, path, flags) ? -1 : next(at, path, flags, mode);
}
