// Tables on a tape: codes give what is folded, slopes are derivatives, values pass through the numbers of the table and
// are held or go on behind its ends; the rows of signals.
#include "../../sim/tape.h"

#include "../../sim/tape_code.h"
#include "../test.h"

#include <math.h>
#include <string.h>

enum { LOOKUP_TEST_FIRST = 6, LOOKUP_TEST_SECOND = 3 };
static const double lookup_at[LOOKUP_TEST_FIRST] = {-2, -1.5, 0, 0.25, 1, 4},
                    lookup_across[LOOKUP_TEST_SECOND] = {0, 1, 3};
static const double lookup_values[LOOKUP_TEST_FIRST] = {1, 3, 3, -1, -2, 5};

static const TapeTable *lookup_case(LookupBetween between, bool extends, bool grid, Arena *arena)
{
    double values[LOOKUP_TEST_FIRST * LOOKUP_TEST_SECOND];
    for (int i = 0; i < LOOKUP_TEST_FIRST * LOOKUP_TEST_SECOND; i++) values[i] = sin(1.7 * i);
    return grid ? lookup_table(between, extends, lookup_at, LOOKUP_TEST_FIRST, lookup_across, LOOKUP_TEST_SECOND,
                               values, arena)
                : lookup_table(between, extends, lookup_at, LOOKUP_TEST_FIRST, NULL, 0, lookup_values, arena);
}

// The value of an operation on table 0 at registers 0 and 1, by its code among the assets of a kernel.
static double lookup_run(Tape *tape, TapeValue value, double a, double b, Arena *arena)
{
    TapeLayout layout;
    TapeCode code;
    const TapeTable *table = tape->tables[0];
    CHECK_OK(tape_layout(tape, 2, &value, 1, arena, &layout));
    CHECK_OK(tape_code(tape, &layout, &value, 1, arena, &code));
    double *assets = ARENA_NEW(arena, double, code.count + table->count + 1);
    const int64_t table_at = code.count + 1;
    memcpy(assets, code.steps, (size_t)code.count * sizeof *assets);
    memcpy(assets + code.count, &table_at, sizeof table_at);
    memcpy(assets + table_at, table->row, (size_t)table->count * sizeof *assets);
    double *registers = ARENA_NEW(arena, double, layout.registers + 1);
    registers[0] = a;
    registers[1] = b;
    memcpy(registers + layout.first, layout.numbers, (size_t)layout.n_numbers * sizeof *layout.numbers);
    const Frame frame = {registers, 1};
    tape_run(assets, code.count, 0, code.count, frame);
    return registers[code.outputs[0]];
}

static double lookup_folded(Tape *tape, double a, double b, bool grid)
{
    double number = NAN;
    const TapeValue y = grid ? tape_number(tape, b) : TAPE_NONE;
    CHECK(tape_is_number(tape, tape_table(tape, TAPE_TABLE, 0, tape_number(tape, a), y), &number));
    return number;
}

TEST(lookup_codes_and_slopes)
{
    static const double points[][2] = {{-3, 0.5},  {-1.75, -1},  {-1.5, 1}, {-0.3, 2.9},
                                       {0.1, 0.1}, {3.999, 3.5}, {4, 3},    {6, 7}};
    static const double h = 1e-6;
    for (int kind = 0; kind < 7; kind++) {
        const bool grid = kind == 6, extends = kind % 2 == 1;
        Arena arena;
        CHECK_OK(arena_create(&arena, (size_t)1 << 26, "lookups"));
        Tape *tape = tape_new(&arena);
        tape_add_table(tape, lookup_case(grid ? LOOKUP_LINEAR : (LookupBetween)(kind / 2), extends, grid, &arena));
        const TapeValue a = tape_input(tape, 0, TAPE_MOVING), b = tape_input(tape, 1, TAPE_MOVING),
                        value = tape_table(tape, TAPE_TABLE, 0, a, grid ? b : TAPE_NONE), along[2] = {a, b},
                        rate[2] = {tape_number(tape, 0.7), tape_number(tape, -0.4)};
        const TapeValue slope = tape_slope(tape, value, along, rate, 2);
        for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
            const double x = points[p][0], y = points[p][1];
            const double got = lookup_run(tape, value, x, y, &arena), folded = lookup_folded(tape, x, y, grid);
            CHECK_BITS(folded, got);
            CHECK(isnan(lookup_run(tape, value, NAN, y, &arena)));
            CHECK(!grid || isnan(lookup_run(tape, value, x, NAN, &arena)));
            if (x == -1.5 || x == 4) continue; // the slope jumps there
            const double change = lookup_folded(tape, x + 0.7 * h, y - 0.4 * h, grid) -
                                  lookup_folded(tape, x - 0.7 * h, y + 0.4 * h, grid);
            CHECK_NEAR(change / (2 * h), lookup_run(tape, slope, x, y, &arena), 1e-7);
        }
        arena_destroy(&arena);
    }
}

TEST(lookup_passes_through_its_numbers)
{
    for (int kind = 0; kind < 6; kind++) {
        Arena arena;
        CHECK_OK(arena_create(&arena, (size_t)1 << 26, "lookups"));
        Tape *tape = tape_new(&arena);
        const LookupBetween between = (LookupBetween)(kind / 2);
        const bool extends = kind % 2 == 1;
        tape_add_table(tape, lookup_case(between, extends, false, &arena));
        for (int i = 0; i < LOOKUP_TEST_FIRST; i++)
            CHECK_BITS(lookup_values[i], lookup_folded(tape, lookup_at[i], 0, false));
        for (double x = -1.5; between == LOOKUP_CUBIC && x < 1.0; x += 1.0 / 64) // monotone where the numbers are
            CHECK(lookup_folded(tape, x + 1.0 / 64, 0, false) <= lookup_folded(tape, x, 0, false));
        if (!extends) CHECK_BITS(1.0, lookup_folded(tape, -INFINITY, 0, false));
        if (!extends) CHECK_BITS(5.0, lookup_folded(tape, INFINITY, 0, false));
        if (extends && between == LOOKUP_LINEAR) CHECK_BITS(-3.0, lookup_folded(tape, -3, 0, false));
        arena_destroy(&arena);
    }
}

TEST(lookup_signals_know_their_row)
{
    static const struct {
        double time, row, value, slope, next;
        int at; // row at the time
    } cases[] = {{-5, -1, 1, 0, -2, -1},   {-2, 0, 1, 4, -1.5, 0}, {-1.75, 0, 2, 4, -1.5, 0},
                 {-1.5, 0, 3, 4, -1.5, 1}, // the end of a step, whose row is still the first
                 {-1.5, 1, 3, 0, 0, 1},    {4, 5, 5, 0, 1e300, 5}, {9, 5, 5, 0, 1e300, 5}};
    for (int held = 0; held < 2; held++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            Arena arena;
            CHECK_OK(arena_create(&arena, (size_t)1 << 26, "signals"));
            Tape *tape = tape_new(&arena);
            const TapeTable *table = lookup_case(held ? LOOKUP_HELD : LOOKUP_LINEAR, false, false, &arena);
            tape_add_table(tape, table);
            const TapeValue time = tape_input(tape, 0, TAPE_MOVING), row = tape_input(tape, 1, TAPE_MOVING),
                            value = tape_table(tape, TAPE_SIGNAL, 0, time, row), one = tape_number(tape, 1.0),
                            slope = tape_slope(tape, value, &time, &one, 1);
            const double first = lookup_values[cases[i].row > 0 ? (int)cases[i].row : 0];
            CHECK_BITS(held ? first : cases[i].value, lookup_run(tape, value, cases[i].time, cases[i].row, &arena));
            CHECK_BITS(held ? 0.0 : cases[i].slope, lookup_run(tape, slope, cases[i].time, cases[i].row, &arena));
            CHECK_BITS(cases[i].next, lookup_next_row(table->row, cases[i].row));
            CHECK_INTEGER(cases[i].at, lookup_row_at(table, cases[i].time));
            arena_destroy(&arena);
        }
}
