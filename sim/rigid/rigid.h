// What the host side (rigid.c, world.c) and the kernels (advance.h) of the rigid-body model share: how a world lies in
// the assets, and a lane in its memory.
#ifndef HOPSCOTCH_RIGID_H
#define HOPSCOTCH_RIGID_H

#include "../sim.h"

enum { RIGID_BODIES_MAX = 4096, RIGID_CONSTRAINTS_MAX = 8192, RIGID_FORCES_MAX = 8192 };
// Moving bodies that have inputs, metrics and columns without being asked for, and rods that have an input; and how
// many may have them: a row of SQLite has 2000 columns at most, of which a body takes 3, or 6 with their spreads, and
// the names of a shard's columns fit an attribute of HDF5 (64 KiB, 16 bytes each).
enum { RIGID_SHOWN = 64, RIGID_SHOWN_MAX = 256 };
// On a GPU a warp steps a world of up to so many bodies, a block a larger one; in a batch of many worlds, so many for
// each body but no more than at most, a thread does, which is faster then (tests/bench/NOTES.md).
enum { RIGID_BODIES_OF_WARP = 64, RIGID_WORLDS_A_BODY = 640, RIGID_WORLDS_AT_MOST = 12288 };
enum { RIGID_JOINT_ROWS = 6 };                                    // between two bodies, that are solved as one block
enum { RIGID_LOOP_ROWS_MAX = 1024, RIGID_ENTRIES_MAX = 1 << 20 }; // of rows that close loops; of skylines

typedef enum RigidForm {
    RIGID_BAUMGARTE,
    RIGID_ORIGINAL,
    RIGID_ORIGINAL_WITH_BIAS,
    RIGID_VELOCITY,
    RIGID_SOFT,
    RIGID_RATTLE,
    RIGID_SEARCHED // each lane its own of those up to RIGID_SOFT
} RigidForm;
typedef enum RigidMap { RIGID_EXPONENTIAL, RIGID_CAYLEY } RigidMap;
typedef enum RigidOrder { RIGID_ORDER_TWO, RIGID_ORDER_FOUR, RIGID_ORDER_SIX } RigidOrder;
typedef enum RigidRowKind {
    RIGID_DISTANCE,     // (|d| - L)(|d| + L)/2
    RIGID_ALONG,        // a.d - target, a fixed in the world
    RIGID_TURN,         // a.log(R_i rest R_j'), a fixed in the world
    RIGID_PERPENDICULAR // a.b, a carried by body i, b by body j
} RigidRowKind;
typedef enum RigidForceKind { RIGID_DRAG, RIGID_SPRING, RIGID_TETHER, RIGID_PUSH, RIGID_PARACHUTE } RigidForceKind;
typedef enum RigidRedundant { RIGID_SHARE, RIGID_DROP, RIGID_REFUSE, RIGID_REGULARISE } RigidRedundant;
typedef enum RigidSolver { RIGID_AUTO, RIGID_SKYLINE, RIGID_TREES } RigidSolver;
typedef enum RigidAir { RIGID_CONSTANT_AIR, RIGID_ISA } RigidAir;

// The world in the assets: arrays of these, each a whole number of doubles. World axes, SI units, z up.
typedef struct RigidBody {
    double gravity;                // 0 or 1
    double mass, inertia[6];       // xx, yy, zz, xy, xz, yz in body axes
    double p[3], q[4], v[3], w[3]; // at t = 0
    double moments[3], axes[4];    // principal moments, and the turn of their axes into the body's
    double inverse[3];             // 1/moments
    double across, beyond;         // of a top: 1/moment across its axis; the axis' 1/moment less that
    int32_t fixed;                 // 0 or 1
    int32_t input;                 // first of its RIGID_INPUTS parameters; -1: it has none
    int32_t joint;                 // that holds it to its parent; -1: none
    int32_t skyline;               // as its island's
    int32_t tree, tree_count;      // its tree: order[tree .. tree + tree_count)
    int32_t touch, n_touches;      // its rows: touches[touch .. touch + n_touches)
    int32_t ease;                  // as its island's
    int32_t top;                   // principal axis whose other two moments are equal; -1: none
} RigidBody;
enum { RIGID_INPUTS = 10 }; // mass, p, v, w

typedef struct RigidRow {
    int32_t kind, i, j;
    int32_t input; // parameter that is its L; -1: none
    int32_t constraint;
    // skyline: the first row of the world that it shares a body with, itself if with none before it. Else of a row that
    // closes a loop: the first such row of the island that acts on a tree that it acts on too.
    int32_t reach;
    int32_t entry;            // skyline: A(row, l) stands at entry + l in the memory; else -1
    int32_t ease;             // as its island's
    int32_t pivot;            // cell of the memory with its 1/D, 0 where it is left out
    int32_t together, before; // rows from this one on, and before it, of its constraint: they share bodies and reach
    double turn;              // rad a metre, or 1: about how far J turns with an error
    double at_i[3], at_j[3];  // body axes
    double a[3], b[3];
    double rest[4]; // R_i0' R_j0 as a quaternion
    double target;  // L or e.d (m)
} RigidRow;

// Rows first .. first + count - 1 hold `child` to `parent` (-1: to something fixed). Of a loop: child and parent are as
// in the rows.
typedef struct RigidJoint {
    int32_t child, parent, first, count;
} RigidJoint;

// Bodies order[first .. first + count) and rows [row, row_end), of which the last n_loop_rows close loops: nothing but
// springs joins them to the rest of the world. Their G and its y stand at `schur` and `response` in the memory.
// skyline: solved so (skyline.h), whose rows close no loops; else by trees. cost: about what its step takes (ns). ease:
// cell of the memory with the part of each row's diagonal that is added to it (solve.h), 0 where none is. follow: cell
// with the number of its rows that follow from others, as it was when its rows were first met, -1 before.
typedef struct RigidIsland {
    int32_t first, count, row, row_end, n_loop_rows, schur, response, skyline, ease, follow;
    double cost;
} RigidIsland;

// Of a list whose items [begin, end) may be done side by side, when those before begin are done (those behind end, of a
// way back). `places`: the bodies in `order`, each stretch those of a tree that are equally far from its root;
// `levels`: those of islands that are solved by trees, all that are equally far from their roots in one stretch, the
// farthest first; `force_places`: forces, which follow those before them that act on the same body. Of a body also what
// a solve asks for, in one place.
typedef struct RigidPlace {
    int32_t item, begin, end;
    int32_t joint, row, n_rows; // that holds it to `parent`; n_rows = 0: it has none
    int32_t sides;              // bit k: the body is the j of row k
    int32_t parent;             // -1: fixed
    int32_t child, n_children;  // places[child .. child + n_children)
    int32_t ease;               // as its island's
    int32_t none;               // whole doubles, as which they are laid out
} RigidPlace;

typedef struct RigidForce {
    int32_t kind, i, j;
    int32_t jumps; // opening: original
    double at_i[3], at_j[3];
    double force[3], torque[3]; // N, N m: world axes
    double linear, quadratic;   // N s/m; m^2: Cd A
    double stiffness, damping, length;
    double packed, open, rate; // parachute: Cd A before and after (m^2), 1/s
    double speed, altitude;    // it latches above, below; infinite: not by that
} RigidForce;

// Shared by all lanes; laid over sim.h's Constants. Offsets are in doubles of the assets, of a lane's memory.
// clang-format off
#define RIGID_CONSTANTS(X) \
    X(double, dt) X(double, density) \
    X(int64_t, ticks) \
    X(int32_t, form) X(int32_t, map) X(int32_t, air) X(int32_t, per_dt) X(int32_t, iterations) X(int32_t, refine) \
    X(int32_t, redundant) \
    /* RigidOrder */ \
    X(int32_t, rattle_order) \
    /* rows: those of one island after the other */ \
    X(int32_t, n_bodies) X(int32_t, n_rows) X(int32_t, n_joints) X(int32_t, n_forces) \
    X(int32_t, n_loop_rows) X(int32_t, n_recorded) X(int32_t, n_named) X(int32_t, n_moving) X(int32_t, n_islands) \
    X(int32_t, n_levels) X(int32_t, first_moving) \
    /* in the assets; bodies: at 0 */ \
    X(int32_t, rows) X(int32_t, joints) X(int32_t, forces) X(int32_t, order) X(int32_t, recorded) X(int32_t, named) \
    X(int32_t, islands) X(int32_t, touches) X(int32_t, places) X(int32_t, levels) X(int32_t, force_places) \
    /* some force depends on velocities; some islands are solved by trees */ \
    X(int32_t, damped) X(int32_t, trees) \
    /* of rattle, as refine where a part of a step ends before the step does */ \
    X(int32_t, refine_within) \
    /* in the memory: state at 0; so many cells outlive a slice. past_at: of rattle, RIGID_PAST cells a row */ \
    X(int32_t, sums_at) X(int32_t, latch_at) X(int32_t, follow_at) X(int32_t, past_at) X(int32_t, kept) X(int32_t, cells) \
    /* rattle: a step that misses the constraints begins once more; if so, what a step changes of the former, at its start */ \
    X(int32_t, refines) X(int32_t, saved_at) \
    /* in the memory */ \
    X(int32_t, body_at) X(int32_t, row_at) X(int32_t, factor_at) X(int32_t, schur_at) \
    /* least part of a row that counts; rows that follow from others share their load; part of the diagonal added to it */ \
    X(double, pivot) X(int32_t, share) X(double, cfm)
// clang-format on
typedef struct RigidConstants {
#if defined(HOPSCOTCH_MADE) // for a campaign: made_NAME are its constants
#define RIGID_MEMBER(type, name) static constexpr type name = (type)made_##name;
#else
#define RIGID_MEMBER(type, name) type name;
#endif
    RIGID_CONSTANTS(RIGID_MEMBER)
#undef RIGID_MEMBER
} RigidConstants;

// A lane's inputs that every world has.
// clang-format off
#define RIGID_PARAMETERS(X) \
    X(alpha, "1/s", 5.0, 0.0, 1e9, "gain: of the velocity error 2 alpha (baumgarte), of the position error alpha (original); in units of dt if gain_units: per_dt") \
    X(beta, "1/s", 5.0, 0.0, 1e9, "gain: of the position error beta^2 (baumgarte), of the velocity error 1 + beta (original)") \
    X(gamma, "1", 0.2, 0.0, 2.0, "form velocity: part of the position error that a step takes back") \
    X(frequency, "Hz", 30.0, 1e-6, 1e9, "form soft: of the constraint as a spring") \
    X(damping_ratio, "1", 1.0, 0.0, 1e6, "form soft: of that spring") \
    X(gravity, "m/s^2", 9.81, -1e3, 1e3, "acceleration of gravity, downwards") \
    X(wind_x, "m/s", 0.0, -1e3, 1e3, "velocity of the air") \
    X(wind_y, "m/s", 0.0, -1e3, 1e3, "velocity of the air") \
    X(wind_z, "m/s", 0.0, -1e3, 1e3, "velocity of the air, upwards") \
    X(substeps, "1", 1.0, 1.0, 1000.0, "whole number of steps that each dt is made of: to search for a step")

// Metrics that every world has; those of bodies stand after them.
#define RIGID_METRICS(X) \
    X(error_rms, "m", "rms of the constraints' errors over rows and time; a distance's is |d| - L (m), an angle's in rad") \
    X(error_max, "m", "greatest of them") \
    X(error_end, "m", "greatest of them at the end") \
    X(tension_max, "N", "greatest pull in a rod (distance), spring or tether") \
    X(multiplier_max, "N", "greatest |lambda| of a row") \
    X(energy_error, "J", "greatest |E - E(0)|, kinetic and of gravity") \
    X(energy_end, "J", "E - E(0) at the end") \
    X(residual_max, "m/s^2", "greatest error of a solved row, |J a - right-hand side|") \
    X(redundant_rows, "1", "rows that follow from others: of a loop where that is so from the start as many as then, else those at the end") \
    X(touchdown, "s", "when the first body's centre came down to z = 0, located within the step; the duration if it never did") \
    X(refined_steps, "1", "steps of rattle that did not meet the constraints, as near a singular pose, and were made of five shorter ones of order two; with order six of eleven") \
    X(survived, "s", "time that the world stayed finite")
// clang-format on

#define RIGID_ENTRY(name, ...) RIGID_PARAMETER_##name,
enum { RIGID_PARAMETERS(RIGID_ENTRY) RIGID_N_PARAMETERS };
enum { RIGID_PARAMETER_form = RIGID_N_PARAMETERS }; // behind them, of RIGID_SEARCHED only
#undef RIGID_ENTRY
#define RIGID_ENTRY(name, ...) RIGID_METRIC_##name,
enum { RIGID_METRICS(RIGID_ENTRY) RIGID_N_METRICS };
#undef RIGID_ENTRY

// Debug rows: a row of the constraints, as the first step of each dt solves for it.
// clang-format off
#define RIGID_DEBUG(X) \
    X(time, "s", "of the step's start", "time") \
    X(row, "1", "of all rows, from 0", "row") \
    X(constraint, "1", "that the row is of, from 0 as the spec lists them", "row") \
    X(Jv, "m/s", "how fast the error changes", "Jv") \
    X(C, "m", "error; of a distance (d^2 - L^2)/2 in m^2", "C") \
    X(lambda, "N", "multiplier; of a distance N/m: the pull is -lambda |d|", "lambda") \
    X(residual, "m/s^2", "right-hand side - J a: what the solve of the KKT system left", "residual") \
    X(energy, "J", "at the step's end, kinetic and of gravity", "energy")
// clang-format on
#define RIGID_ENTRY(name, ...) RIGID_DEBUG_##name,
enum { RIGID_DEBUG(RIGID_ENTRY) RIGID_N_DEBUG };
#undef RIGID_ENTRY
enum { RIGID_DEBUG_ROWS = 64 }; // of larger worlds the first ones

// What is added to rows that share a load, as a part of their diagonal, over the square of the angle by which errors
// have turned J (solve.h), and at most; at least it is option pivot.
#define RIGID_EASE_TURNED 3000.0
#define RIGID_EASE_MOST 1e-4

// part of the kinetic energy that steps that miss the constraints may gain and lose in all
#define RIGID_JUMP 1e-3

enum { RIGID_NONE, RIGID_DIVERGED, RIGID_SOLVER };

// Per body and row, in a lane's memory.
enum {
    RIGID_STATE = 13,                    // p, q, v, w
    RIGID_BODY_F = 0,                    // force and torque (6)
    RIGID_BODY_R = 6,                    // right-hand side (6)
    RIGID_BODY_A = 12,                   // acceleration (6)
    RIGID_BODY_D = 18,                   // what a solve gives (6)
    RIGID_BODY_M = 24,                   // mass, inertia in world axes (7)
    RIGID_BODY_FACTOR = 31,              // LDL' of its 6x6, packed by rows (21); skyline: 1/m, inverse inertia (7)
    RIGID_BODY_START = 52,               // p, q at the step's start (7)
    RIGID_BODY_CELLS = 59,               //
    RIGID_ROW_J = 0,                     // [v_i, w_i, v_j, w_j] (12)
    RIGID_ROW_C = 12,                    // error
    RIGID_ROW_STRETCH = 13,              // error in metres: |d| - L of a distance
    RIGID_ROW_JV = 14,                   //
    RIGID_ROW_BIAS = 15,                 // J' v
    RIGID_ROW_RHS = 16,                  //
    RIGID_ROW_LAMBDA = 17,               //
    RIGID_ROW_SOFT = 18,                 // added to the diagonal
    RIGID_ROW_Z = 19,                    // right-hand side as the elimination leaves it
    RIGID_ROW_X = 20,                    // what a solve gives
    RIGID_ROW_LENGTH = 21,               // |d|
    RIGID_ROW_CELLS = 22,                //
    RIGID_PAST = 3,                      // multipliers of past steps, rattle.h
    RIGID_JOINT_CELLS = 21,              // LDL' of its block
    RIGID_SUM_SQUARES = RIGID_N_METRICS, // of the errors, after the metrics so far
    RIGID_SUM_ENERGY,                    // E(0)
    RIGID_SUM_JUMPS,                     // parts of the kinetic energy that steps which missed the constraints moved
    RIGID_SUM_FOLLOW,                    // rattle: rows that follow from others at the start
    RIGID_SUMS,                          //
    RIGID_SMALL = 512                    // doubles of a world that is kept near the processor
};

// Of the lists that are plain numbers: `order`, `recorded`, `named`, `touches`.
static inline const int32_t *rigid_list(const double *assets, int32_t at) { return (const int32_t *)(assets + at); }

// ---- world.c --------------------------------------------------------------------------------------------------------

typedef struct RigidWorldSpec {
    Points bodies, constraints, forces; // as the lists below describe them
    RigidSolver solver;
} RigidWorldSpec;

// What the functions on the host know besides the assets.
typedef struct RigidHost {
    const char *const *bodies, *const *constraints; // names
    const char *const *moving;                      // [n_moving] names of the bodies that can move, in their order
    const struct RigidFigure *figure;               // how it is drawn
    int n_rods, n_lengths;                          // distances; those whose length is a parameter
} RigidHost;

extern const List rigid_lists[3];
// The world of a spec in the assets. Error (user), with wrong_list and wrong_item where it is.
// No bodies at all: the pendulum, a payload of 5 kg on a rod of 2 m.
Error rigid_world(const RigidWorldSpec *spec, Arena *arena, RigidConstants *constants, Configured *out);

// ---- places.c -------------------------------------------------------------------------------------------------------

// The lists at `touches`, `places`, `levels` and `force_places` of assets that hold the rest of the world, and
// n_levels; how many doubles they take at most.
size_t rigid_places_doubles(const RigidConstants *c);
void rigid_lay_places(RigidConstants *c, double *assets, Arena *arena);

// ---- rigid.c --------------------------------------------------------------------------------------------------------

// What functions on the host know of this world, and its tables for the bodies of a choice. The last again for another
// choice. Error (user): more than RIGID_SHOWN_MAX.
void rigid_know(const RigidWorldSpec *spec, const RigidConstants *constants, const double *assets, Arena *arena,
                Configured *out);
Error rigid_choose(Configured *configured, const Choice *choice, Arena *arena);

// ---- drawing.c ------------------------------------------------------------------------------------------------------

const struct RigidFigure *rigid_figure(const RigidConstants *c, const double *assets, Arena *arena,
                                       const Drawing **drawing);

// ---- debug_table.c --------------------------------------------------------------------------------------------------

extern const DebugTable rigid_debug_table;

// ---- explain.c ------------------------------------------------------------------------------------------------------

int rigid_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);

#endif
