// Domination: ranks, crowding distances, fronts of stored trials, hypervolumes; each against its definition, counted
// out.
#include "../../runner/command/command.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRONT_POINTS = 120 };

// Values from a few levels, so that many points are equal in some objectives or in all.
static void front_draw(double *value, int count, int objectives, int levels, uint64_t seed)
{
    for (int i = 0; i < count * objectives; i++) {
        const RandomKey key = {.seed = seed, .ordinal = (uint64_t)i, .purpose = RANDOM_SAMPLE};
        value[i] = floor(random_uniform(&key, 0) * levels);
    }
}

static bool front_dominates(const double *a, const double *b, int objectives)
{
    bool better = false;
    for (int k = 0; k < objectives; k++) {
        if (a[k] > b[k]) return false;
        better |= a[k] < b[k];
    }
    return better;
}

// ---- ranks and crowding ---------------------------------------------------------------------------------------------

// Ranks by the definition: the front, then the front of the rest, and so on.
static void front_ranks(const double *value, int count, int objectives, int64_t *rank)
{
    int left = count;
    for (int i = 0; i < count; i++) rank[i] = -1;
    for (int64_t front = 0; left > 0; front++) {
        for (int i = 0; i < count; i++) {
            bool beaten = rank[i] >= 0;
            for (int j = 0; j < count && !beaten; j++)
                beaten = (rank[j] < 0 || rank[j] == front) &&
                         front_dominates(value + j * objectives, value + i * objectives, objectives);
            if (beaten) continue;
            rank[i] = front;
            left--;
        }
    }
}

TEST(dominance_ranks_are_those_of_the_definition)
{
    Arena arena;
    double value[FRONT_POINTS * 4], crowding[FRONT_POINTS];
    int64_t rank[FRONT_POINTS], expected[FRONT_POINTS];
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    void *room = arena_take(&arena, dominance_bytes(FRONT_POINTS), 1);
    for (int objectives = 2; objectives <= 4; objectives++) {
        front_draw(value, FRONT_POINTS, objectives, 7, (uint64_t)objectives);
        dominance_sort(value, FRONT_POINTS, objectives, room, rank, crowding);
        front_ranks(value, FRONT_POINTS, objectives, expected);
        for (int i = 0; i < FRONT_POINTS; i++) {
            CHECK_INTEGER(expected[i], rank[i]);
            CHECK(crowding[i] >= 0.0);
        }
    }
    arena_destroy(&arena);
}

TEST(dominance_crowding_is_the_gap_between_neighbours)
{
    // two fronts, the second behind the first; one point of the first lies close to its neighbour
    static const double value[7][2] = {{0, 10}, {1, 9}, {5, 4}, {10, 0}, {20, 20}, {12, 30}, {40, 11}};
    Arena arena;
    double crowding[7];
    int64_t rank[7];
    CHECK_OK(arena_create(&arena, (size_t)1 << 16, "test"));
    dominance_sort(value[0], 7, 2, arena_take(&arena, dominance_bytes(7), 1), rank, crowding);
    CHECK(isinf(crowding[0]) && isinf(crowding[3]) && isinf(crowding[5]) && isinf(crowding[6]));
    CHECK_NEAR(5.0 / 10 + 6.0 / 10, crowding[1], 1e-15);
    CHECK_NEAR(9.0 / 10 + 9.0 / 10, crowding[2], 1e-15);
    CHECK_NEAR(28.0 / 28 + 19.0 / 19, crowding[4], 1e-15);
    CHECK_INTEGER(0, rank[3]);
    CHECK_INTEGER(1, rank[4]);
    arena_destroy(&arena);
}

TEST(dominance_of_infinite_values_gives_numbers)
{
    static const double value[4][2] = {{-(double)INFINITY, 3}, {0, 2}, {1, 1}, {2, (double)INFINITY}};
    Arena arena;
    double crowding[4];
    int64_t rank[4];
    CHECK_OK(arena_create(&arena, (size_t)1 << 16, "test"));
    dominance_sort(value[0], 4, 2, arena_take(&arena, dominance_bytes(4), 1), rank, crowding);
    for (int i = 0; i < 4; i++) CHECK(!isnan(crowding[i]));
    CHECK_INTEGER(1, rank[3]);
    arena_destroy(&arena);
}

// ---- hypervolume ----------------------------------------------------------------------------------------------------

// Counts the cells of a grid below (side, ..., side) that a point dominates.
static double front_cells(const double *value, int count, int objectives, int side)
{
    int64_t cells = 1, covered = 0;
    for (int k = 0; k < objectives; k++) cells *= side;
    for (int64_t cell = 0; cell < cells; cell++) {
        bool is_covered = false;
        for (int i = 0; i < count && !is_covered; i++) {
            int64_t rest = cell;
            is_covered = true;
            for (int k = 0; k < objectives; k++, rest /= side)
                is_covered &= value[i * objectives + k] <= (double)(rest % side);
        }
        covered += is_covered;
    }
    return (double)covered;
}

TEST(hypervolumes_equal_a_count_of_cells)
{
    enum { POINTS = 14, SIDE = 6 };
    double value[POINTS * 5], reference[5] = {SIDE, SIDE, SIDE, SIDE, SIDE};
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    for (int objectives = 2; objectives <= 5; objectives++) {
        void *room = arena_take(&arena, hypervolume_bytes(POINTS, objectives), 1);
        for (uint64_t seed = 0; seed < 20; seed++) {
            front_draw(value, POINTS, objectives, SIDE + 2, seed); // some lie beyond the reference point
            const double expected = front_cells(value, POINTS, objectives, SIDE);
            CHECK_BITS(expected, hypervolume(value, POINTS, objectives, reference, room));
        }
    }
    CHECK_BITS(0.0, hypervolume(value, 0, 5, reference, arena_take(&arena, 1024, 1)));
    CHECK(isnan(hypervolume(value, hypervolume_points(5) + 1, 5, reference, NULL)));
    arena_destroy(&arena);
}

// The points lie on an eighth of a sphere within a unit cube: the volume tends to 1 - pi/6 as they become dense.
TEST(hypervolume_of_a_sphere_is_near_the_exact_one)
{
    enum { SIDE = 16 };
    static const double reference[3] = {1.0, 1.0, 1.0};
    const double quarter = acos(-1.0) / 2.0;
    double value[SIDE * SIDE][3];
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double a = quarter * (i % SIDE + 0.5) / SIDE, b = quarter * (i / SIDE + 0.5) / SIDE;
        value[i][0] = 1.0 - cos(a) * cos(b);
        value[i][1] = 1.0 - cos(a) * sin(b);
        value[i][2] = 1.0 - sin(a);
    }
    const double found =
        hypervolume(value[0], SIDE * SIDE, 3, reference, arena_take(&arena, hypervolume_bytes(SIDE * SIDE, 3), 1));
    CHECK(found < quarter / 3.0); // the dominated volume lies within the sphere
    CHECK_NEAR(quarter / 3.0, found, 0.06);
    arena_destroy(&arena);
}

// ---- fronts of stored trials ----------------------------------------------------------------------------------------

static const char *const front_columns_of_test[] = {"objective_1", "objective_2", "objective_3"};

// Trials with three objectives; every seventh failed.
static void front_fill(Database *database, const double *value, int count)
{
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(database_run(database, "CREATE TABLE trials(id INTEGER PRIMARY KEY, objective_1 REAL, objective_2 REAL, "
                                    "objective_3 REAL) STRICT; BEGIN"));
    CHECK_OK(database_prepare(database, "INSERT INTO trials VALUES(?, ?, ?, ?)", &statement));
    for (int i = 0; i < count; i++) {
        bind_integer(statement, 1, i);
        for (int k = 0; k < 3; k++) bind_real(statement, 2 + k, i % 7 == 0 ? (double)NAN : value[3 * i + k]);
        CHECK_OK(statement_step(statement, &row));
    }
    statement_close(statement);
    CHECK_OK(database_run(database, "COMMIT"));
}

static int front_expected(const double *value, int count, int objectives, bool *expected)
{
    int members = 0;
    for (int i = 0; i < count; i++) {
        expected[i] = i % 7 != 0;
        for (int j = 0; j < count && expected[i]; j++)
            expected[i] = j % 7 == 0 || !front_dominates(value + 3 * j, value + 3 * i, objectives);
        members += expected[i];
    }
    return members;
}

TEST(front_of_stored_trials_is_that_of_the_definition)
{
    enum { TRIALS = 600 };
    static double value[TRIALS * 3];
    static bool expected[TRIALS];
    Arena arena;
    Database *database = NULL;
    Front front;
    const Spec spec = {.objective = {.count = 3}};
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    front_draw(value, TRIALS, 3, 40, 3);
    CHECK_OK(database_open(arena_format(&arena, "%s/trials.db", test_folder()), DATABASE_WRITE, &database));
    front_fill(database, value, TRIALS);
    for (int objectives = 2; objectives <= 3; objectives++) {
        const int members = front_expected(value, TRIALS, objectives, expected);
        CHECK_OK(front_read(database, &spec, front_columns_of_test, objectives, &arena, &front));
        CHECK_INTEGER(members, front.count);
        for (int64_t i = 0; i < front.count; i++) {
            CHECK(expected[front.id[i]]);
            CHECK_BITS(value[3 * front.id[i] + 1], front.value[i * objectives + 1]);
            CHECK(i == 0 || front.value[i * objectives] >= front.value[(i - 1) * objectives]);
        }
        front_free(&front);
    }
    CHECK_OK(database_close(database));
    arena_destroy(&arena);
}

TEST(front_is_shown_evenly_from_end_to_end)
{
    const Front front = {.count = 10};
    CHECK_INTEGER(0, front_spread(&front, 4, 0));
    CHECK_INTEGER(3, front_spread(&front, 4, 1));
    CHECK_INTEGER(9, front_spread(&front, 4, 3));
    CHECK_INTEGER(7, front_spread(&front, 10, 7));
    CHECK_INTEGER(0, front_spread(&front, 1, 0));
}
