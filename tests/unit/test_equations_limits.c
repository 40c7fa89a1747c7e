// Reading equations is bounded: specs that would take long, or much memory, are refused after a second or less.
#include "../../runner/experiment/spec/keys.h"
#include "../test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct LimitsText {
    FILE *out;
    char *text;
    size_t size;
} LimitsText;

static LimitsText text; // of the test that runs

static void limits_begin(const char *integrator)
{
    text = (LimitsText){0};
    text.out = open_memstream(&text.text, &text.size);
    fprintf(text.out, "version: 1\nexperiment: a\nmodel: equations\nsimulation:\n  integrator: %s\n  system:\n",
            integrator);
}

// The messages of a spec, which are to hold `words` ("": it is right), after at most `seconds` of this thread.
static void limits_check(const char *words, double seconds)
{
    Arena arena;
    Spec spec;
    char *messages = NULL;
    size_t size = 0;
    struct timespec from, to;
    fclose(text.out);
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    const Error error = spec_parse("limits.yaml", text.text, NULL, 0, &arena, diagnostics, &spec);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    FILE *out = open_memstream(&messages, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    const double took = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (getenv("LIMITS_SHOW") != NULL)
        fprintf(stderr, "%8zu bytes %6.2f s %6zu MiB %d: %.200s\n", text.size, took, arena.used >> 20, (int)error.kind,
                messages);
    CHECK(error.kind == (words[0] == '\0' ? OK : ERROR_USER));
    CHECK(strstr(messages, words) != NULL);
    CHECK(took < seconds); // a dev build on a busy machine
    arena_destroy(&arena);
    free(messages);
    free(text.text);
}

static void limits_tail(void) { fputs("objective: {minimize: survived}\n", text.out); }

// Each shorthand uses the one before twice: 2^n operations written out, and n of the tape.
TEST(equations_limits_doubling)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1}\n    rates: {x: a1999}\n    let:\n      a0: x\n", text.out);
    for (int i = 1; i < 2000; i++) fprintf(text.out, "      a%d: a%d*a%d\n", i, i - 1, i - 1);
    limits_tail();
    limits_check("", 5.0);
}

// The same with rates that bend, and a Jacobian.
TEST(equations_limits_jacobian)
{
    limits_begin("rodas5p");
    fputs("    states: {", text.out);
    for (int i = 0; i < 64; i++) fprintf(text.out, "%sx%d: 1", i > 0 ? ", " : "", i);
    fputs("}\n    let:\n      a0: \"x0", text.out);
    for (int i = 1; i < 64; i++) fprintf(text.out, "*x%d", i);
    fputs("\"\n", text.out);
    for (int i = 1; i < 1000; i++) fprintf(text.out, "      a%d: \"sin(a%d)*a%d^2.5\"\n", i, i - 1, i - 1);
    fputs("    modes:\n", text.out);
    for (int m = 0; m < 64; m++) {
        fprintf(text.out, "      m%d:\n        events: [{falls: \"x0 + %d\", to: m%d}]\n        rates: {", m, m,
                (m + 1) % 64);
        for (int i = 0; i < 64; i++) fprintf(text.out, "%sx%d: \"a999 + %d\"", i > 0 ? ", " : "", i, 64 * m + i);
        fputs("}\n", text.out);
    }
    limits_tail();
    limits_check("the equations are too long", 20.0);
}

// Many modes, guards that all of them share, and metrics.
TEST(equations_limits_modes)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1, v: 0}\n    rates: {x: v, v: -x}\n    events:\n", text.out);
    for (int i = 0; i < 250; i++) {
        fprintf(text.out, "      - {name: e%d, falls: \"", i);
        for (int k = 0; k < 120; k++) fprintf(text.out, "sin(x + %d)*", 1000 * i + k);
        fprintf(text.out, "v\", to: m%d, set: {x: \"cos(x + %d)\"}}\n", i % 64, i);
    }
    fputs("    modes:\n", text.out);
    for (int m = 0; m < 64; m++) fprintf(text.out, "      m%d: {let: {w%d: \"x + %d\"}}\n", m, m, m);
    limits_tail();
    limits_check("too long", 20.0);
}

// What an event sets is computed anew in each mode.
TEST(equations_limits_steps)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1, v: 0}\n    rates: {x: v, v: -x}\n    let:\n      a0: x\n", text.out);
    for (int i = 1; i < 2000; i++) fprintf(text.out, "      a%d: a%d*a%d\n", i, i - 1, i - 1);
    fputs("    events:\n", text.out);
    for (int i = 0; i < 128; i++)
        fprintf(text.out, "      - {name: e%d, falls: \"x + %d\", to: m%d, set: {x: \"a1999 + %d\"}}\n", i, i, i % 64,
                i);
    fputs("    modes:\n", text.out);
    for (int m = 0; m < 64; m++) fprintf(text.out, "      m%d: {}\n", m);
    limits_tail();
    limits_check("the equations are too long: their modes and events have more than 2097152 steps", 20.0);
}

// Unknown names among thousands of known ones: each is compared to all of them.
TEST(equations_limits_unknown)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1}\n    rates: {x: x}\n    parameters: {", text.out);
    for (int i = 0; i < 1024; i++) fprintf(text.out, "%sparameter_of_the_system_%d: 1", i > 0 ? ", " : "", i);
    fputs("}\n    let:\n", text.out);
    for (int i = 0; i < 2000; i++) {
        fprintf(text.out, "      shorthand_%d: \"x", i);
        for (int k = 0; k < 12; k++) fprintf(text.out, " + parameter_of_the_systen_%d", 12 * i + k);
        fputs("\"\n", text.out);
    }
    limits_check("did you mean 'parameter_of_the_system_", 20.0);
}

// A shorthand that uses the next one, and so on.
TEST(equations_limits_deep)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1}\n    rates: {x: a0}\n    let:\n      a1999: x\n", text.out);
    for (int i = 0; i < 1999; i++) fprintf(text.out, "      a%d: \"a%d + 1\"\n", i, i + 1);
    limits_check("more than 200 shorthands build on each other before they are declared", 5.0);
}

// A text that many nodes share.
TEST(equations_limits_aliases)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1}\n    rates: {x: x}\n    let:\n      a: &long \"x", text.out);
    for (int k = 0; k < 1000; k++) fprintf(text.out, " + x");
    fputs("\"\n", text.out);
    for (int i = 0; i < 2000; i++) fprintf(text.out, "      b%d: *long\n", i);
    limits_check("the expressions are too long: at most 1048576 characters and operations", 10.0);
}

// Comparisons of conditions are guards.
TEST(equations_limits_comparisons)
{
    limits_begin("dormand_prince");
    fputs("    states: {x: 1}\n    rates: {x: x}\n    failures: {far: \"x < 0", text.out);
    for (int k = 1; k < 300; k++) fprintf(text.out, " or x < -%d", k);
    fputs("\"}\n", text.out);
    limits_check("events and conditions compare more than 256 times", 5.0);
}

static void limits_repeat(const char *format, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", text.out);
        for (const char *c = format; *c != '\0'; c++) {
            if (*c == '#')
                fprintf(text.out, "%d", i);
            else
                fputc(*c, text.out);
        }
    }
}

// The numbers of things that a system can have.
TEST(equations_limits_counts)
{
    static const struct {
        const char *before, *item, *after, *words;
        int count;
    } cases[] = {
        {"parameters: {", "p#: 1", "}", "a system has at most 1024 parameters", 1025},
        {"let: {", "a#: x", "}", "a system has at most 2048 shorthands", 2049},
        {"metrics: {", "m#: {final: x}", "}", "a system has at most 256 metrics", 257},
        {"columns: {", "c#: x", "}", "a system has at most 256 columns of its own", 257},
        {"failures: {", "f#: x < 1", "}", "a system has at most 256 failures of its own", 257},
        {"events: [", "{falls: x - #}", "]", "a system has at most 256 guards", 257},
        {"events: [", "{at: # + 1}", "]", "a system has at most 256 instants", 257},
        {"events: [", "{at: # + 1, name: e#}", "]", "a system has at most 256 names of events", 257},
        {"events: [{falls: x}, ", "{at: # + 1, name: e}", "]", "a mode has at most 256 events", 256},
        {"drawing: [", "{disc: [x, #]}", "]", "a drawing has at most 512 points", 513},
        {"modes: {m: {let: {", "b#: x", "}}}", "a system has at most 2048 shorthands", 2049},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        limits_begin("dormand_prince");
        fprintf(text.out, "    states: {x: 1}\n    rates: {x: x}\n    %s", cases[i].before);
        limits_repeat(cases[i].item, cases[i].count);
        fprintf(text.out, "%s\n", cases[i].after);
        limits_check(cases[i].words, 5.0);
    }
}
