/* Counts the calls of libc that change files and, at the chosen one, kills the process, lets the call fail, or tears it.
   Loaded with LD_PRELOAD by crash_shim.py; off until crash_arm is called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, BEFORE, AFTER, FAIL, HALF };
static int mode = OFF, target = 0;
static atomic_int calls = 0;

int crash_arm(int how, int at) { atomic_store(&calls, 0); target = at; mode = how; return 0; }
int crash_calls(void) { return atomic_load(&calls); }

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

static int step(void) {
  if (mode == OFF || atomic_fetch_add(&calls, 1) + 1 != target) return OFF;
  if (mode == BEFORE) die();
  return mode;
}

static int is_file(int fd) {
  struct stat s;
  int kept = errno, is = fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
  errno = kept;
  return is;
}

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))
#define STEPPED(type, counts, call)                        \
  int at = (counts) ? step() : OFF;                        \
  if (at == FAIL) { errno = ENOSPC; return -1; }           \
  type result = call;                                      \
  if (at == AFTER || at == HALF) die();                    \
  return result;
#define SHORT(n) (at == HALF ? (n) / 2 : (n))

ssize_t write(int fd, const void *b, size_t n) {
  STEPPED(ssize_t, is_file(fd), REAL(ssize_t, "write", int, const void *, size_t)(fd, b, SHORT(n)))
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
  STEPPED(ssize_t, is_file(fd), REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)(fd, b, SHORT(n), o))
}
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
  STEPPED(ssize_t, is_file(fd), REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)(fd, b, SHORT(n), o))
}
ssize_t writev(int fd, const struct iovec *v, int n) {
  STEPPED(ssize_t, is_file(fd), REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, v, n))
}
int fsync(int fd) { STEPPED(int, is_file(fd), REAL(int, "fsync", int)(fd)) }
int fdatasync(int fd) { STEPPED(int, is_file(fd), REAL(int, "fdatasync", int)(fd)) }
int ftruncate(int fd, off_t n) { STEPPED(int, 1, REAL(int, "ftruncate", int, off_t)(fd, n)) }
int ftruncate64(int fd, off64_t n) { STEPPED(int, 1, REAL(int, "ftruncate64", int, off64_t)(fd, n)) }
int rename(const char *a, const char *b) { STEPPED(int, 1, REAL(int, "rename", const char *, const char *)(a, b)) }
int renameat(int x, const char *a, int y, const char *b) {
  STEPPED(int, 1, REAL(int, "renameat", int, const char *, int, const char *)(x, a, y, b))
}
int unlink(const char *a) { STEPPED(int, 1, REAL(int, "unlink", const char *)(a)) }
int unlinkat(int x, const char *a, int f) { STEPPED(int, 1, REAL(int, "unlinkat", int, const char *, int)(x, a, f)) }
int rmdir(const char *a) { STEPPED(int, 1, REAL(int, "rmdir", const char *)(a)) }
int mkdir(const char *a, mode_t m) { STEPPED(int, 1, REAL(int, "mkdir", const char *, mode_t)(a, m)) }
int mkdirat(int x, const char *a, mode_t m) { STEPPED(int, 1, REAL(int, "mkdirat", int, const char *, mode_t)(x, a, m)) }
int linkat(int x, const char *a, int y, const char *b, int f) {
  STEPPED(int, 1, REAL(int, "linkat", int, const char *, int, const char *, int)(x, a, y, b, f))
}

#define MODE_OF(flags)                                     \
  mode_t m = 0;                                            \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                   \
    va_list more;                                          \
    va_start(more, flags);                                 \
    m = va_arg(more, mode_t);                              \
    va_end(more);                                          \
  }
int open(const char *a, int flags, ...) {
  MODE_OF(flags)
  STEPPED(int, flags & O_CREAT, REAL(int, "open", const char *, int, ...)(a, flags, m))
}
int open64(const char *a, int flags, ...) {
  MODE_OF(flags)
  STEPPED(int, flags & O_CREAT, REAL(int, "open64", const char *, int, ...)(a, flags, m))
}
int openat(int x, const char *a, int flags, ...) {
  MODE_OF(flags)
  STEPPED(int, flags & O_CREAT, REAL(int, "openat", int, const char *, int, ...)(x, a, flags, m))
}
int openat64(int x, const char *a, int flags, ...) {
  MODE_OF(flags)
  STEPPED(int, flags & O_CREAT, REAL(int, "openat64", int, const char *, int, ...)(x, a, flags, m))
}
