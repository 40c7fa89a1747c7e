// What the host side (rigid.c, world.c) and the kernels (advance.h) of the rigid-body model share: the layout of a
// world in the assets, and of a lane in its memory.
#ifndef HOPSCOTCH_RIGID_H
#define HOPSCOTCH_RIGID_H

#include "../sim.h"

enum { RIGID_BODIES_MAX = 4096, RIGID_CONSTRAINTS_MAX = 8192, RIGID_FORCES_MAX = 8192 };
// By default this many moving bodies have inputs, metrics and columns, and this many rods an input; at most
// RIGID_SHOWN_MAX. SQLite allows 2000 columns, of which a body takes 3, or 6 with their spreads. The names of a shard's
// columns must fit an attribute of HDF5 (64 KiB, 16 bytes each).
enum { RIGID_SHOWN = 64, RIGID_SHOWN_MAX = 256 };
// On a GPU a warp steps a world of up to RIGID_BODIES_OF_WARP bodies, a thread block a larger one. From
// RIGID_WORLDS_A_BODY worlds per body on, at most RIGID_WORLDS_AT_MOST, one thread per world is faster
// (tests/bench/NOTES.md).
enum { RIGID_BODIES_OF_WARP = 64, RIGID_WORLDS_A_BODY = 640, RIGID_WORLDS_AT_MOST = 12288 };
enum { RIGID_JOINT_ROWS = 6 };                                    // between two bodies, solved as one block
enum { RIGID_LOOP_ROWS_MAX = 1024, RIGID_ENTRIES_MAX = 1 << 20 }; // rows that close loops; entries of skylines

typedef enum RigidForm {
    RIGID_BAUMGARTE,
    RIGID_ORIGINAL,
    RIGID_ORIGINAL_WITH_BIAS,
    RIGID_VELOCITY,
    RIGID_SOFT,
    RIGID_RATTLE,
    RIGID_SEARCHED // selected per lane, from those up to RIGID_SOFT
} RigidForm;
typedef enum RigidMap { RIGID_EXPONENTIAL, RIGID_CAYLEY } RigidMap;
typedef enum RigidOrder { RIGID_ORDER_TWO, RIGID_ORDER_FOUR, RIGID_ORDER_SIX } RigidOrder;
typedef enum RigidRowKind {
    RIGID_DISTANCE,     // (|d| - L)(|d| + L)/2
    RIGID_ALONG,        // a.d - target, a fixed in the world
    RIGID_TURN,         // a.log(R_i rest R_j'), a fixed in the world
    RIGID_PERPENDICULAR // a.b, a carried by body i, b by body j
} RigidRowKind;
typedef enum RigidForceKind {
    RIGID_DRAG,
    RIGID_SPRING,
    RIGID_TETHER,
    RIGID_PUSH,
    RIGID_PARACHUTE,
    RIGID_INPUT
} RigidForceKind;
typedef enum RigidRedundant { RIGID_SHARE, RIGID_DROP, RIGID_REFUSE, RIGID_REGULARISE } RigidRedundant;
typedef enum RigidSolver { RIGID_AUTO, RIGID_SKYLINE, RIGID_TREES } RigidSolver;
typedef enum RigidAir { RIGID_CONSTANT_AIR, RIGID_ISA } RigidAir;

// The world in the assets: arrays of these structs, each a whole number of doubles. World axes, SI units, z up.
typedef struct RigidBody {
    double gravity;                // 0 or 1
    double mass, inertia[6];       // xx, yy, zz, xy, xz, yz in body axes
    double p[3], q[4], v[3], w[3]; // at t = 0
    double moments[3], axes[4];    // principal moments, and the rotation from their axes to the body's
    double inverse[3];             // 1/moments
    double across, beyond;         // of a top: 1/moment across its axis; 1/moment of the axis minus that
    int32_t fixed;                 // 0 or 1
    int32_t input;                 // first of its RIGID_INPUTS parameters; -1: none
    int32_t joint;                 // the one to its parent; -1: none
    int32_t skyline;               // of its island
    int32_t tree, tree_count;      // its tree: order[tree .. tree + tree_count)
    int32_t touch, n_touches;      // its rows: touches[touch .. touch + n_touches)
    int32_t ease;                  // of its island
    int32_t top;                   // principal axis whose other two moments are equal; -1: none
} RigidBody;
enum { RIGID_INPUTS = 10 }; // mass, p, v, w

typedef struct RigidRow {
    int32_t kind, i, j;
    int32_t input; // parameter with its L; -1: none
    int32_t constraint;
    // skyline: the first row that shares a body with this one; this one if none before it does. For a row that closes a
    // loop: the first such row of the island that acts on a common tree.
    int32_t reach;
    int32_t entry;            // skyline: A(row, l) stands at entry + l in the memory; else -1
    int32_t ease;             // of its island
    int32_t pivot;            // cell of the memory with its 1/D; 0: the row is left out
    int32_t together, before; // rows of its constraint from this one on, and before it: they share bodies and reach
    int32_t closes;           // 1: it closes a loop of its island's trees, whatever solves the island
    double turn;              // rad per metre, or 1: about how far J turns with an error
    double at_i[3], at_j[3];  // body axes
    double a[3], b[3];
    double rest[4]; // R_i0' R_j0 as a quaternion
    double target;  // L or e.d (m)
} RigidRow;

// Rows first .. first + count - 1 connect `child` to `parent` (-1: to a fixed body). For a loop: child and parent are
// as in the rows.
typedef struct RigidJoint {
    int32_t child, parent, first, count;
} RigidJoint;

// Bodies order[first .. first + count) and rows [row, row_end), of which the last n_loop_rows close loops. Only springs
// connect an island to the rest of the world. Its G and y stand at `schur` and `response` in the memory. skyline:
// solved by skyline.h, with no rows that close loops; else by trees. cost: about the time of its step (ns). ease: cell
// of the memory with the fraction of each row's diagonal that is added to it (solve.h), 0 if none is. follow: cell with
// the number of its rows that followed from others when the rows were first met, -1 before.
typedef struct RigidIsland {
    int32_t first, count, row, row_end, n_loop_rows, schur, response, skyline, ease, follow;
    double cost;
} RigidIsland;

// A slot of a list. Items [begin, end) can be computed in parallel after those before begin (or after those from end
// on, in the reverse direction). `slots`: the bodies in `order`; a stretch has the bodies of one tree at equal depth.
// `levels`: bodies of islands that are solved by trees; a stretch has all of equal depth, the deepest first.
// `force_slots`: forces; each comes after those before it that act on the same body. For a body it also holds the data
// that a solve needs.
typedef struct RigidSlot {
    int32_t item, begin, end;
    int32_t joint, row, n_rows; // the joint to `parent`; n_rows = 0: none
    int32_t sides;              // bit k: the body is the j of row k
    int32_t parent;             // -1: fixed
    int32_t child, n_children;  // slots[child .. child + n_children)
    int32_t ease;               // of its island
    int32_t none;               // padding to whole doubles
} RigidSlot;

enum { RIGID_FORCE_INPUTS = 3 };
typedef struct RigidForce {
    int32_t kind, i, j;
    int32_t jumps; // opening: original
    // Parameters in place of numbers below; -1: none. Spring, tether: stiffness, damping, length; drag: linear,
    // quadratic; parachute: packed, open, rate; push: force.
    int32_t input[RIGID_FORCE_INPUTS];
    int32_t number; // of an input among those of the world
    double at_i[3], at_j[3];
    double force[3], torque[3]; // N, N m: world axes; of an input the direction of one of the two, in axes of `axes`
    double linear, quadratic;   // N s/m; m^2: Cd A
    double stiffness, damping, length;
    double packed, open, rate; // parachute: Cd A before and after (m^2), 1/s
    double speed, altitude;    // it latches above this speed, below this altitude; infinite: never
    double low, high;          // input: its range, which may be infinite
    int32_t axes, turns;       // input: the body with these axes; 1: it is a torque, and -torque acts on j
} RigidForce;

// Shared by all lanes; stored in sim.h's Constants. Offsets are in doubles of the assets, or of a lane's memory.
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
    X(int32_t, islands) X(int32_t, touches) X(int32_t, slots) X(int32_t, levels) X(int32_t, force_slots) \
    /* some force depends on velocities; some islands are solved by trees */ \
    X(int32_t, damped) X(int32_t, trees) \
    /* some force brings energy */ \
    X(int32_t, powered) \
    /* rattle: refine for a substep before the last one */ \
    X(int32_t, refine_within) \
    /* in the memory: the state is at 0; `kept` cells outlive a slice. past_at: rattle, RIGID_PAST cells per row */ \
    X(int32_t, sums_at) X(int32_t, latch_at) X(int32_t, follow_at) X(int32_t, past_at) X(int32_t, kept) \
    X(int32_t, cells) \
    /* rattle: a step that misses the constraints is repeated; saved_at: cells that a step changes, as before it */ \
    X(int32_t, refines) X(int32_t, saved_at) \
    /* in the memory */ \
    X(int32_t, body_at) X(int32_t, row_at) X(int32_t, factor_at) X(int32_t, schur_at) \
    /* inputs (control.h): in the memory RIGID_INPUT_CELLS and n_inputs values, each held for `held` ticks; a table of \
       them in the assets */ \
    X(int32_t, n_inputs) X(int32_t, inputs_at) X(int32_t, held) X(int32_t, actions) X(int32_t, n_action_rows) \
    /* least fraction of a row that counts as independent; rows that follow from others share the load; fraction of \
       the diagonal that is added to the matrix, or 0 */ \
    X(double, pivot) X(int32_t, share) X(double, cfm)
// clang-format on

typedef struct RigidConstants {
#if defined(HOPSCOTCH_MADE) // known to the compiler as made_NAME
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
    X(alpha, "1/s", 5.0, 0.0, 1e9, "gain: 2 alpha on the velocity error (baumgarte), alpha on the position error (original); in units of dt if gain_units: per_dt") \
    X(beta, "1/s", 5.0, 0.0, 1e9, "gain: beta^2 on the position error (baumgarte), 1 + beta on the velocity error (original)") \
    X(gamma, "1", 0.2, 0.0, 2.0, "form velocity: fraction of the position error that a step corrects") \
    X(frequency, "Hz", 30.0, 1e-6, 1e9, "form soft: frequency of the constraint as a spring") \
    X(damping_ratio, "1", 1.0, 0.0, 1e6, "form soft: damping ratio of the constraint as a spring") \
    X(gravity, "m/s^2", 9.81, -1e3, 1e3, "acceleration of gravity, downwards") \
    X(wind_x, "m/s", 0.0, -1e3, 1e3, "velocity of the air") \
    X(wind_y, "m/s", 0.0, -1e3, 1e3, "velocity of the air") \
    X(wind_z, "m/s", 0.0, -1e3, 1e3, "velocity of the air, upwards") \
    X(substeps, "1", 1.0, 1.0, 1000.0, "whole number of steps per dt, to search for a step size")

// Metrics of every world; those of bodies come after them.
#define RIGID_METRICS(X) \
    X(error_rms, "m", "rms of the constraints' errors over rows and time; of a distance |d| - L (m), of an angle in rad") \
    X(error_max, "m", "greatest of these errors") \
    X(error_end, "m", "greatest of these errors at the end") \
    X(tension_max, "N", "greatest pull in a rod (distance), spring or tether") \
    X(multiplier_max, "N", "greatest |lambda| of a row") \
    X(energy_error, "J", "greatest |E - E(0)|; E: kinetic and gravity") \
    X(energy_end, "J", "E - E(0) at the end") \
    X(residual_max, "m/s^2", "greatest error of a solved row, |J a - right-hand side|") \
    X(redundant_rows, "1", "rows that follow from others: of each loop their number at the start if there are any then, else at the end") \
    X(touchdown, "s", "time at which the first body's centre falls to z = 0, located within the step; the duration if it never does") \
    X(refined_steps, "1", "steps of rattle that did not meet the constraints, as near a singular pose, and were repeated as five shorter ones of order two (order six: eleven)") \
    X(survived, "s", "time until the trial ended") \
    X(projection, "m", "rattle: greatest error of a row at the start, which is removed before t = 0 by the least motion, weighted by masses") \
    X(projection_speed, "m/s", "rattle: greatest rate of an error at the start, which is removed likewise")
// clang-format on

#define RIGID_ENTRY(name, ...) RIGID_PARAMETER_##name,
enum { RIGID_PARAMETERS(RIGID_ENTRY) RIGID_N_PARAMETERS };
enum { RIGID_PARAMETER_form = RIGID_N_PARAMETERS }; // after them, only with RIGID_SEARCHED
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
enum { RIGID_DEBUG_ROWS = 64 }; // in larger worlds the first ones

// Fraction of the diagonal added to rows that share a load: RIGID_EASE_TURNED times the square of the angle by which
// errors have turned J (solve.h), at least option pivot, and at most a limit.
#define RIGID_EASE_TURNED 3000.0
#define RIGID_EASE_MOST 1e-4

// Absurd results end a lane. An error grows by more than RIGID_ERROR_MOST times the lever that it acts on. Or the
// energy grows by more than what is in play: the kinetic energy at the start, what the weights of bodies have released
// at most, and what the correction of errors at the start gives. Springs, pushes and wind bring energy; there it is not
// judged.
#define RIGID_ERROR_MOST 1.0
#define RIGID_ENERGY_ROUND 1e-6 // of E(0), which may be rounding
#define RIGID_ROUNDED 1e-12     // of positions, per step: what rounding moves a body at most

// fraction of the kinetic energy that steps which miss the constraints may gain or lose in total
#define RIGID_JUMP 1e-3

enum { RIGID_NONE, RIGID_DIVERGED, RIGID_SOLVER, RIGID_OPEN, RIGID_ENERGY, RIGID_CONSTRAINT };

// Per body and row, in a lane's memory.
enum {
    RIGID_STATE = 13,                    // p, q, v, w
    RIGID_BODY_F = 0,                    // force and torque (6)
    RIGID_BODY_R = 6,                    // right-hand side (6)
    RIGID_BODY_A = 12,                   // acceleration (6)
    RIGID_BODY_D = 18,                   // solution of a solve (6)
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
    RIGID_ROW_Z = 19,                    // right-hand side during elimination
    RIGID_ROW_X = 20,                    // solution of a solve
    RIGID_ROW_LENGTH = 21,               // |d|
    RIGID_ROW_CELLS = 22,                //
    RIGID_PAST = 3,                      // multipliers of past steps, rattle.h
    RIGID_JOINT_CELLS = 21,              // LDL' of its block
    RIGID_SUM_SQUARES = RIGID_N_METRICS, // of the errors, after the metrics so far
    RIGID_SUM_ENERGY,                    // E(0)
    RIGID_SUM_JUMPS,                     // fractions of the kinetic energy changed by steps that missed the constraints
    RIGID_SUM_FOLLOW,                    // rattle: rows that follow from others at the start
    RIGID_SUM_OPEN,                      // 1: the start is refused
    RIGID_SUM_PLAY,                      // J at the start that may become kinetic; infinite: not judged
    RIGID_SUM_FALL,                      // greatest work of a body's weight so far, either sign (J)
    RIGID_SUM_LEVER,                     // greatest error so far, over its lever
    RIGID_SUM_LEVER_START,               // the same at the start
    RIGID_SUMS,                          //
    RIGID_WORK = 0,                      // work of the inputs so far (J)
    RIGID_WORK_BEFORE,                   // the same before this step
    RIGID_INPUT_CELLS,                   //
    RIGID_SMALL = 512                    // limit, in doubles, of a world in fast memory
};

// A list of plain numbers: `order`, `recorded`, `named`, `touches`.
static inline const int32_t *rigid_list(const double *assets, int32_t at) { return (const int32_t *)(assets + at); }

// ---- world.c --------------------------------------------------------------------------------------------------------

typedef struct RigidWorldSpec {
    Points bodies, constraints, forces; // as the lists below describe them
    RigidSolver solver;
} RigidWorldSpec;

// Data of the functions on the host besides the assets.
typedef struct RigidHost {
    const char *const *bodies, *const *constraints, *const *forces; // names
    const char *const *moving;        // [n_moving] names of the bodies that can move, in their order
    const struct RigidFigure *figure; // how it is drawn
    int n_rods, n_lengths;            // distances; those with a length as a parameter
} RigidHost;

extern const List rigid_lists[3];
// Lays the world of a spec out in the assets. Error (user), located by wrong_list and wrong_item. Without
// bodies: the pendulum, a payload of 5 kg on a rod of 2 m.
Error rigid_world(const RigidWorldSpec *spec, Arena *arena, RigidConstants *constants, Configured *out);

// Sets what depends on whether some force depends on velocities, once the inputs of the forces are known.
void rigid_world_damp(RigidConstants *c, const double *assets);

// ---- schedule.c -----------------------------------------------------------------------------------------------------

// rigid_lay_schedule computes `touches`, `slots`, `levels`, `force_slots` and n_levels from the other assets.
// rigid_schedule_doubles: how many doubles these take at most.
size_t rigid_schedule_doubles(const RigidConstants *c);
void rigid_lay_schedule(RigidConstants *c, double *assets, Arena *arena);

// ---- control.c ------------------------------------------------------------------------------------------------------

// Options of `simulation.control`, in the order of their rows.
enum {
    RIGID_CONTROL_MODE,
    RIGID_CONTROL_PERIOD,
    RIGID_CONTROL_ACTIONS,
    RIGID_CONTROL_FILE,
    RIGID_CONTROL_LAW,
    RIGID_CONTROL_ACTION_PERIOD,
    RIGID_N_CONTROLS
};
typedef enum RigidControlMode { RIGID_NO_CONTROL, RIGID_LAW, RIGID_POLICY, RIGID_EXTERNAL } RigidControlMode;

// What gives the inputs of the world in *out, as settings[RIGID_N_CONTROLS] and points[RIGID_N_CONTROLS] say, whose
// first row is option `first` of the model; points NULL: none are given. Sets `held` and the table of actions. Error
// (user), located.
Error rigid_control_settings(const double *settings, const Points *points, int first, Arena *arena, RigidConstants *c,
                             Configured *out);
// Error (user), located: an input has the name of another column, of a parameter or of a metric.
Error rigid_check_inputs(Configured *out, Arena *arena);
// The columns of inputs from columns[first] on, and a panel for each.
void rigid_input_columns(const RigidHost *host, const RigidConstants *c, const double *assets, Arena *arena,
                         Field *columns, int first, ColumnPanel *panels);

// ---- rigid.c --------------------------------------------------------------------------------------------------------

// rigid_know sets the host's data of this world, and the tables for a choice of bodies; rigid_choose sets these tables
// again. Error (user): more than RIGID_SHOWN_MAX bodies are chosen.
void rigid_know(const RigidWorldSpec *spec, const RigidConstants *constants, const double *assets, Arena *arena,
                Configured *out);
Error rigid_choose(Configured *configured, const Choice *choice, Arena *arena);

// ---- gradient.c -----------------------------------------------------------------------------------------------------

extern const Adjoint rigid_adjoint;

// ---- drawing.c ------------------------------------------------------------------------------------------------------

// The figure of the world, and *drawing, which uses it; both in the arena. moving[n_moving]: names of the bodies.
const struct RigidFigure *rigid_figure(const RigidConstants *c, const double *assets, const char *const *moving,
                                       Arena *arena, const Drawing **drawing);

// ---- debug_table.c --------------------------------------------------------------------------------------------------

extern const DebugTable rigid_debug_table;

// ---- explain.c ------------------------------------------------------------------------------------------------------

// As Model.explain.
int rigid_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);

#endif
