// Work on a rigid world that can run in parallel: each list holds everything once, in stretches without dependent
// neighbours.
#include "../../sim/rigid/rigid.h"
#include "rigid_kkt.h"

#include <string.h>

typedef struct ScheduleWorld {
    RigidRun run;
    RigidConstants c;
    const RigidBody *bodies;
    const RigidRow *rows;
    const RigidForce *forces;
    const RigidSlot *slots, *levels, *force_slots;
    const int32_t *touches;
} ScheduleWorld;

static void schedule_open(ScheduleWorld *w, const char *simulation)
{
    rigid_start(&w->run, simulation, "", 1, "auto");
    const Configured *configured = &w->run.spec.configured;
    const double *assets = configured->assets;
    memcpy(&w->c, &configured->constants, sizeof w->c);
    w->bodies = (const RigidBody *)assets;
    w->rows = (const RigidRow *)(assets + w->c.rows);
    w->forces = (const RigidForce *)(assets + w->c.forces);
    w->slots = (const RigidSlot *)(assets + w->c.slots);
    w->levels = (const RigidSlot *)(assets + w->c.levels);
    w->force_slots = (const RigidSlot *)(assets + w->c.force_slots);
    w->touches = rigid_list(assets, w->c.touches);
}

static int slot_of(const RigidSlot *slots, int count, int item)
{
    int found = -1;
    for (int k = 0; k < count; k++) {
        if (slots[k].item != item) continue;
        CHECK(found < 0);
        found = k;
    }
    return found;
}

// Checks that the stretches follow each other and cover the list.
static void schedule_cover(const RigidSlot *slots, int count)
{
    for (int from = 0; from < count;) {
        const int end = slots[from].end;
        CHECK(end > from && end <= count);
        if (end <= from) return;
        for (int k = from; k < end; k++) CHECK(slots[k].begin == from && slots[k].end == end);
        from = end;
    }
}

// Checks that each body occurs once, in an earlier stretch than its parent.
static void schedule_rise(const ScheduleWorld *w, const RigidSlot *slots, int count)
{
    int children = 0;
    schedule_cover(slots, count);
    for (int k = 0; k < count; k++) {
        const int parent = slots[k].parent;
        CHECK(slot_of(slots, count, slots[k].item) == k);
        if (parent >= 0) CHECK(slots[slot_of(slots, count, parent)].begin >= slots[k].end);
        for (int i = 0; i < slots[k].n_children; i++, children++)
            CHECK(w->slots[slots[k].child + i].parent == slots[k].item);
        for (int r = 0; r < slots[k].n_rows; r++) {
            const RigidRow *row = &w->rows[slots[k].row + r];
            CHECK((slots[k].sides >> r & 1 ? row->j : row->i) == slots[k].item);
        }
    }
    for (int k = 0; k < count; k++) children -= slots[k].parent >= 0;
    CHECK(children == 0);
}

// Eight arms of two links on a hanging hub, solved by trees; a free body, and a body on two hooks, solved in another
// way; and forces between them.
TEST(rigid_slots_in_a_stretch_are_independent)
{
    ScheduleWorld w;
    schedule_open(&w, "{duration: 1, dt: 0.01, world: {bodies: [{name: far1, position: [2, 0, 0]}, {name: hub}, "
                      "{name: near#, repeat: 8, position: [1, 1, 0], step: {position: [0, 1, 0]}}, "
                      "{name: far#, repeat: [2, 8], position: [2, 2, 0], step: {position: [0, 1, 0]}}, "
                      "{name: free, position: [0, 5, 0]}, {name: swing, position: [0, 9, 0]}], constraints: ["
                      "{name: a, type: ball, a: hub, at_a: [0, 0, 1]}, {name: in1, type: ball, a: hub, b: near1}, "
                      "{name: in#, repeat: [2, 8], type: hinge, axis: [0, 1, 0], a: near#, b: hub}, "
                      "{name: out1, type: distance, a: far1, b: near1}, "
                      "{name: out#, repeat: [2, 8], type: ball, a: far#, b: near#}, "
                      "{name: f, type: ball, a: swing, at_a: [0, 0, 1]}, "
                      "{name: g, type: distance, a: swing, at_a: [0.5, 0, 1]}], forces: ["
                      "{name: p, type: push, a: hub, force: [1, 0, 0]}, "
                      "{name: q, type: spring, a: hub, b: free, stiffness: 1, length: 1}, "
                      "{name: r, type: push, a: swing, force: [1, 0, 0]}, "
                      "{name: s, type: push, a: free, force: [1, 0, 0]}, "
                      "{name: t, type: spring, a: near1, stiffness: 1, length: 1}]}}");
    CHECK(w.c.n_levels == 17); // without the bodies free and swing
    schedule_rise(&w, w.slots, w.c.n_moving);
    schedule_rise(&w, w.levels, w.c.n_levels);
    CHECK(w.levels[0].end == 8 && w.levels[8].end == 16); // the outer links, then the inner ones
    for (int k = 0; k < w.c.n_moving; k++) CHECK(w.slots[k].begin >= w.bodies[w.slots[k].item].tree); // in its tree
    rigid_end(&w.run);
}

TEST(rigid_forces_on_one_body_keep_their_order)
{
    ScheduleWorld w;
    schedule_open(&w,
                  "{duration: 1, dt: 0.01, world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}, "
                  "{name: c, position: [2, 0, 0]}], constraints: [{name: hook, type: ball, a: a, at_a: [0, 0, 1]}], "
                  "forces: [{name: f0, type: push, a: a, force: [1, 0, 0]}, "
                  "{name: f1, type: push, a: b, force: [1, 0, 0]}, "
                  "{name: f2, type: spring, a: a, b: b, stiffness: 1, length: 1}, "
                  "{name: f3, type: push, a: c, force: [1, 0, 0]}, "
                  "{name: f4, type: push, a: b, force: [1, 0, 0]}, "
                  "{name: f5, type: spring, a: c, stiffness: 1, length: 1}, "
                  "{name: f6, type: spring, a: c, b: b, stiffness: 1, length: 1}]}}");
    schedule_cover(w.force_slots, w.c.n_forces);
    const int stretch[] = {0, 0, 1, 0, 2, 1, 3}, ends[] = {3, 5, 6, 7};
    for (int f = 0; f < w.c.n_forces; f++) {
        const RigidSlot *slot = &w.force_slots[slot_of(w.force_slots, w.c.n_forces, f)];
        CHECK(slot->end == ends[stretch[f]]);
    }
    rigid_end(&w.run);
}

// In the order of rigid_right_sides: rows in rising order, each row once for each of its bodies.
TEST(rigid_bodies_know_the_rows_that_touch_them)
{
    ScheduleWorld w;
    schedule_open(&w, "{duration: 1, dt: 0.01, world: {bodies: [{name: a}, {name: b, position: [1, 0, 0]}], "
                      "constraints: [{name: rod, type: distance, a: a, b: b}, {name: hook, type: ball, a: a, "
                      "at_a: [0, 0, 1]}, {name: held, type: hinge, axis: [0, 1, 0], a: b, b: a}]}}");
    int touched = 0;
    for (int b = 0; b < w.c.n_bodies; b++) {
        const int32_t *touches = w.touches + w.bodies[b].touch;
        for (int k = 0; k < w.bodies[b].n_touches; k++, touched++) {
            const RigidRow *row = &w.rows[touches[k] / 2];
            CHECK((touches[k] % 2 == 0 ? row->i : row->j) == b);
            if (k > 0) CHECK(touches[k] > touches[k - 1]);
        }
    }
    CHECK(touched == 2 * w.c.n_rows);
    rigid_end(&w.run);
}

// ---- rows that close loops ------------------------------------------------------------------------------------------

// The body at the root of the body's tree; -1: that root is fixed.
static int schedule_root(const ScheduleWorld *w, int body)
{
    while (w->bodies[body].fixed == 0) {
        const int parent = w->slots[slot_of(w->slots, w->c.n_moving, body)].parent;
        if (parent < 0) return body;
        body = parent;
    }
    return -1;
}

static bool schedule_share_a_tree(const ScheduleWorld *w, const RigidRow *one, const RigidRow *other)
{
    const int roots[2] = {schedule_root(w, one->i), schedule_root(w, one->j)};
    for (int k = 0; k < 2; k++) {
        if (roots[k] < 0) continue;
        if (roots[k] == schedule_root(w, other->i) || roots[k] == schedule_root(w, other->j)) return true;
    }
    return false;
}

// In the matrix of an island's loops, a row begins at the first row with a common tree. An earlier begin is slow, a
// later one is wrong.
TEST(rigid_loops_reach_back_to_the_first_row_of_their_trees)
{
    const KktDraw draws[] = {{.bodies = 6, .trees = 5, .loops = 11}, {.bodies = 9, .trees = 6, .loops = 14}};
    uint64_t state = 3;
    int skipped = 0;
    for (int round = 0; round < 5; round++) {
        ScheduleWorld w;
        KktWorld drawn = {0};
        Arena arena;
        CHECK_OK(arena_create(&arena, 1 << 24, "a world"));
        for (int i = 0; i < 2; i++) kkt_island(&drawn, &draws[i], &state);
        schedule_open(&w, arena_format(&arena, "{duration: 1, solver: trees, world: %s}", kkt_spec(&drawn, &arena)));
        const RigidIsland *islands = (const RigidIsland *)(w.run.spec.configured.assets + w.c.islands);
        CHECK_INTEGER(2, w.c.n_islands);
        for (int i = 0; i < w.c.n_islands; i++) {
            const int n = islands[i].n_loop_rows;
            const RigidRow *loops = w.rows + islands[i].row_end - n;
            CHECK(n >= draws[i].loops - 3);
            for (int l = 0; l < n; l++) {
                int first = 0;
                while (first < l && !schedule_share_a_tree(&w, &loops[l], &loops[first])) first++;
                CHECK_INTEGER(first, (int64_t)loops[l].reach);
                skipped += first > 0 && first < l;
            }
        }
        rigid_end(&w.run);
        arena_destroy(&arena);
    }
    CHECK(skipped > 10);
}
