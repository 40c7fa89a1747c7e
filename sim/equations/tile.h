// Tiles: neighbouring groups of a CPU go straight together (straight.h), so that a step of a code is decoded once for
// all.
#ifndef HOPSCOTCH_EQUATIONS_TILE_H
#define HOPSCOTCH_EQUATIONS_TILE_H

#include "../cpu_kernels.h"
#include "advance.h"

enum { TILE_NUMBERS = 3072 }; // registers of all lanes: they stay in the nearest cache
enum { TILE_STEPS = 1024 };   // of a code
enum { TILE_VECTORS = 4 };    // a row holds a multiple of as many

// A step of the code, with where rows begin.
typedef struct TileStep {
    int32_t operation, to, a, b, c;
    int64_t step; // as in the assets
} TileStep;

// The registers of a tile: row r holds register r of `width` lanes, at numbers + r*width.
typedef struct Tile {
    const Constants *constants;
    EquationsMethod method;
    bool observed;              // by the kernels that record; these groups are not recorded
    const EquationsLane *lanes; // [groups]
    double *numbers;            // [registers][width]
    const TileStep *steps;      // [count]
    int groups, width, count;
} Tile;

static void tile_decode(Tile *tile, TileStep *steps)
{
    const EquationsLane *lane = tile->lanes;
    const EquationsCode code = equations_code(lane, lane->c->straight);
    for (int k = 0; k < code.count; k++) {
        const int64_t step = asset_integer(lane->assets, code.first + k);
        const int operation = tape_step_operation(step);
        const int c = operation > TAPE_INPUT ? 0 : tape_step_register(step, 3); // else the number of a table
        steps[k] = (TileStep){.operation = operation,
                              .to = tape_step_register(step, 0) * tile->width,
                              .a = tape_step_register(step, 1) * tile->width,
                              .b = tape_step_register(step, 2) * tile->width,
                              .c = c * tile->width,
                              .step = step};
    }
    tile->steps = steps;
    tile->count = code.count;
}

// A step of a code, but for those with a sign.
static void tile_function(const Tile *tile, const TileStep *at)
{
    const EquationsLane *lane = tile->lanes;
    const double *n = tile->numbers, *table = NULL;
    if (at->operation > TAPE_INPUT) table = tape_table_of(lane->assets, lane->c->tables, at->step);
    for (int k = 0; k < tile->width; k += LANES) {
        const real a = load_all(n + at->a + k), b = load_all(n + at->b + k);
        store_all(tile->numbers + at->to + k, table != NULL
                                                  ? tape_lookup_in(table, at->step, a, b)
                                                  : tape_function(at->operation, a, b, load_all(n + at->c + k)));
    }
}

// A loop over a row whose body is `statement`, of vectors A, B and C at k.
#define TILE_EACH(value)                                                                                               \
    for (int tile_k = 0; tile_k < width; tile_k += TILE_VECTORS * LANES) {                                             \
        _Pragma("GCC unroll 4") for (int k = tile_k; k < tile_k + TILE_VECTORS * LANES; k += LANES)                    \
            store_all(to + k, value);                                                                                  \
    }                                                                                                                  \
    break

// As tape_run, of the code of a step.
static void tile_run(const Tile *tile)
{
    const int width = tile->width;
    const TileStep *end = tile->steps + tile->count;
    for (const TileStep *step = tile->steps; step < end; step++) {
        double *to = tile->numbers + step->to;
        const double *a = tile->numbers + step->a, *b = tile->numbers + step->b, *c = tile->numbers + step->c;
        switch (step->operation) {
        case PROGRAM_ADD: TILE_EACH(load_all(a + k) + load_all(b + k));
        case PROGRAM_SUBTRACT: TILE_EACH(load_all(a + k) - load_all(b + k));
        case PROGRAM_MULTIPLY: TILE_EACH(load_all(a + k) * load_all(b + k));
        case PROGRAM_DIVIDE: TILE_EACH(load_all(a + k) / load_all(b + k));
        case PROGRAM_NEGATE: TILE_EACH(-load_all(a + k));
        case TAPE_FUSED: TILE_EACH(fused(load_all(a + k), load_all(b + k), load_all(c + k)));
        case TAPE_PRODUCT_PLUS: TILE_EACH(load_all(a + k) * load_all(b + k) + load_all(c + k));
        case TAPE_PRODUCT_LESS: TILE_EACH(load_all(a + k) * load_all(b + k) - load_all(c + k));
        case TAPE_LESS_PRODUCT: TILE_EACH(load_all(c + k) - load_all(a + k) * load_all(b + k));
        default: tile_function(tile, step);
        }
    }
}
#undef TILE_EACH

static void tile_set(const Tile *tile, int row, double value)
{
    for (int k = 0; k < tile->width; k += LANES) store_all(tile->numbers + row * tile->width + k, splat(value));
}

// Outputs that are not in their place go there.
static void tile_settle(const Tile *tile)
{
    const EquationsLane *lane = tile->lanes;
    const EquationsConstants *c = lane->c;
    const EquationsCode code = equations_code(lane, c->straight);
    const int count = c->n_total + c->is_map;
    if (code.outputs < 0) return;
    for (int k = 0; k < tile->width; k += LANES) {
        real saved[SYSTEM_STATES_MAX + SYSTEM_METRICS_MAX + 1];
        for (int i = 0; i < count; i++)
            saved[i] = load_all(tile->numbers + equations_register(lane, code, i) * tile->width + k);
        for (int i = 0; i < count; i++) store_all(tile->numbers + straight_number(c, i) * tile->width + k, saved[i]);
    }
}

// Between the groups' frames and the tile. Where a row has room for more groups, the first stands there again.
static void tile_load(const Tile *tile)
{
    const int registers = tile->lanes->c->registers;
    for (int g = 0; g < tile->width / LANES; g++) {
        const EquationsLane *lane = &tile->lanes[g < tile->groups ? g : 0];
        straight_argue(lane, lane->c->y);
        for (int r = 0; r < registers; r++)
            store_all(tile->numbers + r * tile->width + g * LANES, frame_get(lane->file, r));
    }
}
static void tile_store(const Tile *tile, int g)
{
    const EquationsConstants *c = tile->lanes->c;
    for (int i = 0; i < c->n_total + c->is_map; i++) {
        const int r = straight_number(c, i);
        frame_set(tile->lanes[g].file, r, load_all(tile->numbers + r * tile->width + g * LANES));
    }
}

static void tile_alone(const Tile *tile, const LaneGroup *groups, int g, int64_t tick, int64_t ticks)
{
    LaneGroup part = groups[g];
    part.tick = tick;
    part.ticks = ticks;
    if (ticks > 0) equations_advance(tile->constants, tile->lanes->assets, &part, tile->method, tile->observed);
}

// `steps` steps of all groups from `tick` on. A group in which a number is not finite then is looked at step by step.
static void tile_go(const Tile *tile, const LaneGroup *groups, int64_t tick, int64_t steps)
{
    const EquationsConstants *c = tile->lanes->c;
    double t = (double)tick * c->dt;
    tile_load(tile);
    for (int64_t k = tick; k < tick + steps; k++) {
        const double next = (double)(k + 1) * c->dt;
        tile_set(tile, SYSTEM_TIME, t);
        tile_set(tile, straight_register(c, STRAIGHT_LENGTH), next - t);
        tile_run(tile);
        tile_settle(tile);
        t = next;
    }
    for (int g = 0; g < tile->groups; g++) {
        LaneGroup later = groups[g];
        later.tick = tick;
        tile_store(tile, g);
        if (any_lane(lanes_running(&later) & ~straight_finite(&tile->lanes[g])))
            tile_alone(tile, groups, g, tick, steps);
        else
            straight_arrive(&tile->lanes[g], tick, tick + steps);
    }
}

// The groups of a tile, for a slice.
static void tile_advance(Tile *tile, const double *assets, const LaneGroup *groups)
{
    double numbers[TILE_NUMBERS] __attribute__((aligned(64)));
    TileStep steps_of_code[TILE_STEPS];
    EquationsLane lanes[CPU_TILE_GROUPS];
    const int64_t end = groups->tick + groups->ticks;
    int64_t tick = groups->tick, steps;
    for (int g = 0; g < tile->groups; g++) lanes[g] = equations_lane(tile->constants, assets, &groups[g], false, NULL);
    tile->lanes = lanes;
    tile->numbers = numbers;
    tile->width = (tile->groups + TILE_VECTORS - 1) / TILE_VECTORS * TILE_VECTORS * LANES;
    tile_decode(tile, steps_of_code);
    for (int g = 0; tick == 0 && g < tile->groups; g++) tile_alone(tile, groups, g, 0, 1);
    if (tick == 0) tick = 1;
    for (; (steps = straight_steps(lanes->c, tick, end)) > 1; tick += steps) tile_go(tile, groups, tick, steps);
    for (int g = 0; g < tile->groups; g++) tile_alone(tile, groups, g, tick, end - tick);
}

// Neighbouring full groups [count] of a slice.
static void equations_tile(const Constants *constants, const double *assets, const LaneGroup *groups, int count,
                           EquationsMethod method, bool observed)
{
    const EquationsConstants *c = (const EquationsConstants *)constants;
    const int most = TILE_NUMBERS / (c->registers * LANES) / TILE_VECTORS * TILE_VECTORS;
    const bool together = c->straight != 0 && most > 0 && asset_integer(assets, c->straight + 1) <= TILE_STEPS;
    for (int g = 0; g < count; g += together ? most : 1) {
        const int left = count - g;
        Tile tile = {
            .constants = constants, .method = method, .observed = observed, .groups = left < most ? left : most};
        if (together)
            tile_advance(&tile, assets, groups + g);
        else
            equations_advance(constants, assets, groups + g, method, observed);
    }
}

#define EQUATIONS_TILE(name)                                                                                           \
    HD void equations_##name##_tile(const Constants *constants, const double *assets, const LaneGroup *groups,         \
                                    int count, bool observed)                                                          \
    {                                                                                                                  \
        equations_tile(constants, assets, groups, count, EQUATIONS_BY_##name, observed);                               \
    }
EQUATIONS_TILE(rk4)
EQUATIONS_TILE(semi_implicit_euler)
EQUATIONS_TILE(map)
#undef EQUATIONS_TILE

#endif
