// A second solution of a step of rigid bodies: random worlds, and their KKT system set up and solved here as one dense
// matrix, independently of the model's code.
#ifndef HOPSCOTCH_RIGID_KKT_H
#define HOPSCOTCH_RIGID_KKT_H

#include "rigid_case.h"

enum { KKT_BODIES = 16, KKT_CONSTRAINTS = 40, KKT_ROWS = 64 }; // recorded bodies, rows with debug rows

typedef enum KktType { KKT_DISTANCE, KKT_ALONG, KKT_BALL, KKT_WELD } KktType;

// World axes, SI units; all bodies upright.
typedef struct KktBody {
    double mass, inertia[6]; // xx, yy, zz, xy, xz, yz
    double p[3], v[3], w[3];
} KktBody;

typedef struct KktConstraint {
    KktType type;
    int a, b; // -1: the world; as `a` a fixed body at the point where its axes meet
    double at_a[3], at_b[3], axis[3], length;
} KktConstraint;

typedef struct KktWorld {
    int n_bodies, n_constraints;
    KktBody bodies[KKT_BODIES];
    KktConstraint constraints[KKT_CONSTRAINTS];
} KktWorld;

// Gains of J a = -s J'v - c Jv - k C; cfm: this fraction of each row's diagonal is added to it.
typedef struct KktGains {
    double s, c, k, cfm;
} KktGains;

typedef struct KktAnswer {
    int n_rows, n_dependent;  // n_dependent: rows that depend on others; their multipliers are not determined
    double least;             // smallest relative pivot of the other rows
    int constraint[KKT_ROWS]; // the constraint of each row
    double C[KKT_ROWS], Jv[KKT_ROWS], lambda[KKT_ROWS];
    double a[KKT_BODIES][6]; // accelerations, then angular accelerations
} KktAnswer;

double kkt_random(uint64_t *state, double low, double high);
int kkt_rows_of(KktType type);
// How to draw an island: `trees` trees of bodies, each with its first body on a ball joint of the world (0: one tree
// that floats), grown by random joints; then `loops` constraints between any two bodies of the island, or a body and
// the world.
typedef struct KktDraw {
    int bodies, trees, loops;
    bool errors;    // the constraints are violated at the start, and all bodies move
    double heavy;   // factor of all masses; 0: none
    bool dependent; // every third loop repeats an earlier one
} KktDraw;
void kkt_island(KktWorld *world, const KktDraw *draw, uint64_t *state);
const char *kkt_spec(const KktWorld *world, Arena *arena); // flow YAML of the key `world`
void kkt_solve(const KktWorld *world, const KktGains *gains, double gravity, KktAnswer *answer);

#endif
