// Only in the wheel (`make wheel`): what static libraries of this system take from a glibc that is newer than 2.28, and
// what they can take only in a program, not in a shared library.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

// Random bytes for the hashes of libexpat; glibc has it since 2.36. Like that one it gives all bytes or ends the
// process.
void arc4random_buf(void *bytes, size_t size);
void arc4random_buf(void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = getrandom((char *)bytes + done, size - done, 0);
        if (got < 0 && errno != EINTR) abort();
        if (got > 0) done += (size_t)got;
    }
}

// Standard streams of HDF5, whose archive is compiled for programs: it reads these variables at a fixed distance from
// the code, which the linker refuses for variables of another library. `make wheel` renames them in a copy of it.
extern FILE *wheel_stdin, *wheel_stdout, *wheel_stderr;
FILE *wheel_stdin, *wheel_stdout, *wheel_stderr;

__attribute__((constructor)) static void wheel_set_streams(void)
{
    wheel_stdin = stdin;
    wheel_stdout = stdout;
    wheel_stderr = stderr;
}
