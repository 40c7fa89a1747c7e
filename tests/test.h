// A test is TEST(name) { ... } in any file of tests/unit; it registers itself. A failed check prints file:line, what
// was expected, what was got and the tolerance, and the test goes on; the program ends with "N passed, N failed".
#ifndef HOPSCOTCH_TEST_H
#define HOPSCOTCH_TEST_H

#include "../io/io.h"
#include "../runner/command/command.h"
#include "../sim/sim.h"
#include "isa.h"

typedef void (*TestFunction)(void);

void test_register(const char *file, const char *name, TestFunction function);
void test_check(bool good, const char *file, int line, const char *condition);
void test_integer(int64_t expected, int64_t got, const char *file, int line, const char *what);
void test_near(double expected, double got, double tolerance, const char *file, int line, const char *what);
void test_bits(double expected, double got, const char *file, int line, const char *what);
void test_text(const char *expected, const char *got, const char *file, int line, const char *what);
void test_error(ErrorKind expected, Error got, const char *file, int line, const char *what);
// The same, and its text holds the words.
void test_says(ErrorKind expected, const char *words, Error got, const char *file, int line, const char *what);
// The test is left out: what it needs, and how to have it (a package, a command). Return from the test after it. The
// line is that of tests/skip.sh.
void test_skip(const char *needs, const char *how);
bool test_quick(void); // QUICK=1: a test of many cases is to take a slice of them
// A fresh folder for this test, removed at the end of the run.
const char *test_folder(void);
// ../shared/NAME if it is there, else NULL (then skip).
const char *test_shared(const char *name);

bool test_has_isa(const char *isa); // this processor

#define TEST(name)                                                                                                     \
    static void name(void);                                                                                            \
    __attribute__((constructor)) static void register_##name(void) { test_register(__FILE__, #name, name); }           \
    static void name(void)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_INTEGER(expected, got) test_integer((expected), (got), __FILE__, __LINE__, #got)
#define CHECK_NEAR(expected, got, tolerance) test_near((expected), (got), (tolerance), __FILE__, __LINE__, #got)
#define CHECK_BITS(expected, got) test_bits((expected), (got), __FILE__, __LINE__, #got)
#define CHECK_TEXT(expected, got) test_text((expected), (got), __FILE__, __LINE__, #got)
#define CHECK_OK(error) test_error(OK, (error), __FILE__, __LINE__, #error)
#define CHECK_SAYS(kind, words, error) test_says((kind), (words), (error), __FILE__, __LINE__, #error)
#define CHECK_ERROR(kind, error) test_error((kind), (error), __FILE__, __LINE__, #error)

#endif
