/* Loaded before libc: the Nth call of one kind on paths below one folder fails as a disk would.

   What C libraries buffer is seen as well: a flush or a close that still has bytes to write counts
   as a write, and when it fails the bytes are gone. The process that is tried sets the variables. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE, PWRITE, FSYNC, RENAME, CLOSE, MKDIR, LOCK, OPEN, REMOVE, KINDS };

char fault_folder[PATH_MAX]; /* nothing is counted while it is empty */
int fault_kind = -1, fault_error, fault_lasts;
long fault_at, fault_seen[KINDS];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int below(const char *path) {
    size_t size = strlen(fault_folder);
    return !strncmp(path, fault_folder, size) && (path[size] == '/' || !path[size]);
}

static int fails(int kind) {
    long count = __atomic_add_fetch(&fault_seen[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != fault_kind || (fault_lasts ? count < fault_at : count != fault_at)) return 0;
    if (fault_error < 0) kill(getpid(), SIGKILL); /* before the call */
    errno = fault_error;
    return 1;
}

static int fails_fd(int kind, int fd) {
    char link[64], path[PATH_MAX];
    int before = errno;
    if (!*fault_folder) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = before;
    if (size < 0) return 0;
    path[size] = 0;
    return below(path) && fails(kind);
}

static int fails_at(int kind, int folder, const char *name) {
    char path[PATH_MAX] = "";
    int before = errno;
    if (!*fault_folder || !name) return 0;
    if (*name != '/') {
        char link[64] = "/proc/self/cwd";
        if (folder != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, path, sizeof path - 2);
        errno = before;
        if (size < 0) return 0;
        path[size] = '/';
    }
    strncat(path, name, sizeof path - strlen(path) - 1);
    return below(path) && fails(kind);
}

/* an error of 0 stands for half of the bytes: no error, and less than what was asked for */
#define HALF(kind, fd, size) \
    if (size && fails_fd(kind, fd)) { \
        if (fault_error) return -1; \
        size = size > 1 ? size / 2 : 1; \
    }

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    HALF(WRITE, fd, size)
    return real(fd, data, size);
}

#define PWRITES(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type at) { \
        REAL(name); \
        HALF(PWRITE, fd, size) \
        return real(fd, data, size, at); \
    }
PWRITES(pwrite, off_t)
PWRITES(pwrite64, off64_t)

#define SYNCS(name) \
    int name(int fd) { \
        REAL(name); \
        return fails_fd(FSYNC, fd) ? -1 : real(fd); \
    }
SYNCS(fsync)
SYNCS(fdatasync)

int close(int fd) { /* as Linux does it: whatever it says, the descriptor is gone */
    REAL(close);
    int failed = fails_fd(CLOSE, fd), error = errno, done = real(fd);
    if (!failed) return done;
    errno = error;
    return -1;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return fails_at(RENAME, AT_FDCWD, to) ? -1 : real(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    REAL(renameat);
    return fails_at(RENAME, to_fd, to) ? -1 : real(from_fd, from, to_fd, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return fails_at(MKDIR, AT_FDCWD, path) ? -1 : real(path, mode);
}

int flock(int fd, int operation) {
    REAL(flock);
    return fails_fd(LOCK, fd) ? -1 : real(fd, operation);
}

#define CONTROLS(name) \
    int name(int fd, int command, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, command); \
        void *given = va_arg(rest, void *); \
        va_end(rest); \
        int locks = command == F_SETLK || command == F_SETLKW; \
        return locks && fails_fd(LOCK, fd) ? -1 : real(fd, command, given); \
    }
CONTROLS(fcntl)
CONTROLS(fcntl64)

#define MODE \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest);
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        MODE \
        return fails_at(OPEN, AT_FDCWD, path) ? -1 : real(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); \
        MODE \
        return fails_at(OPEN, folder, path) ? -1 : real(folder, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

DIR *opendir(const char *path) {
    REAL(opendir);
    return fails_at(OPEN, AT_FDCWD, path) ? NULL : real(path);
}

#define STREAMS(name) \
    FILE *name(const char *path, const char *mode) { \
        REAL(name); \
        return fails_at(OPEN, AT_FDCWD, path) ? NULL : real(path, mode); \
    }
STREAMS(fopen)
STREAMS(fopen64)

#define FLUSHES(name, otherwise) \
    int name(FILE *file) { \
        REAL(name); \
        if (file && __fpending(file) && fails_fd(WRITE, fileno(file)) && fault_error) { \
            int error = errno; \
            __fpurge(file); \
            otherwise; \
            errno = error; \
            return EOF; \
        } \
        return real(file); \
    }
FLUSHES(fflush, (void)0)
FLUSHES(fclose, real(file))

int unlink(const char *path) {
    REAL(unlink);
    return fails_at(REMOVE, AT_FDCWD, path) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    return fails_at(REMOVE, folder, path) ? -1 : real(folder, path, flags);
}

int rmdir(const char *path) {
    REAL(rmdir);
    return fails_at(REMOVE, AT_FDCWD, path) ? -1 : real(path);
}
