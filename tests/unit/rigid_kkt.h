// A second solution of a step of rigid bodies: random worlds, and their KKT system set up and solved here as one dense
// matrix, independently of the model's code.
#ifndef HOPSCOTCH_RIGID_KKT_H
#define HOPSCOTCH_RIGID_KKT_H

#include "rigid_case.h"

enum { KKT_BODIES = 16, KKT_CONSTRAINTS = 40, KKT_ROWS = 64 }; // bodies that are recorded, rows that have debug rows

typedef enum KktType { KKT_DISTANCE, KKT_ALONG, KKT_BALL, KKT_WELD } KktType;

// World axes, SI units; all bodies upright.
typedef struct KktBody {
    double mass, inertia[6]; // xx, yy, zz, xy, xz, yz
    double p[3], v[3], w[3];
} KktBody;

typedef struct KktConstraint {
    KktType type;
    int a, b; // -1: the world; as `a` a fixed body that stands where its axes meet
    double at_a[3], at_b[3], axis[3], length;
} KktConstraint;

typedef struct KktWorld {
    int n_bodies, n_constraints;
    KktBody bodies[KKT_BODIES];
    KktConstraint constraints[KKT_CONSTRAINTS];
} KktWorld;

// s, c and k of J a = -s J'v - c Jv - k C; cfm: part of the diagonal that is added to it.
typedef struct KktGains {
    double s, c, k, cfm;
} KktGains;

typedef struct KktAnswer {
    int n_rows, n_dependent;  // rows that follow from others: their multipliers are none that others must agree with
    double least;             // part of the diagonal that the worst of the others was left with
    int constraint[KKT_ROWS]; // of each row
    double C[KKT_ROWS], Jv[KKT_ROWS], lambda[KKT_ROWS];
    double a[KKT_BODIES][6]; // accelerations, turning ones after the others
} KktAnswer;

double kkt_random(uint64_t *state, double low, double high);
int kkt_rows_of(KktType type);
// Joins what was drawn before: `trees` of bodies whose first ones hang on balls of the world (0: one tree that floats),
// grown by random joints, and then `loops` constraints between any two of the island's bodies, or the world.
typedef struct KktDraw {
    int bodies, trees, loops;
    bool errors;    // the constraints are not met at the start, and nothing is at rest
    double heavy;   // factor of all masses, if it is not 0
    bool dependent; // each third loop is one that was drawn before, drawn again
} KktDraw;
void kkt_island(KktWorld *world, const KktDraw *draw, uint64_t *state);
const char *kkt_spec(const KktWorld *world, Arena *arena); // flow YAML of the key `world`
void kkt_solve(const KktWorld *world, const KktGains *gains, double gravity, KktAnswer *answer);

#endif
