// The bodies of a world and the constraints between them, while islands.c and skyline.c put them in order.
#ifndef HOPSCOTCH_RIGID_ISLANDS_H
#define HOPSCOTCH_RIGID_ISLANDS_H

#include "rigid.h"

typedef struct RigidForest {
    RigidBody *bodies; // given, as are rows
    int n_bodies, n_rows;
    const RigidRow *rows;
    int *next[2], *first; // rows of a body, as a list: next[side][row], 2 row + side
    int *order, n_order;  // bodies that move, parents before children
    int *parent;          // -2: not seen yet; -1: a root
    RigidJoint *joints;
    int n_joints;
    RigidIsland *islands;       // `first` in the order of the walk
    int n_islands, n_loop_rows; // those that close loops of what is solved by trees
    int n_closing;              // those that close loops, whatever they are solved by
} RigidForest;

int rigid_other(const RigidForest *forest, int link); // the other body of a row in a body's list

// What of a forest is not given. sorted[n_rows]: its rows, those of one island after the other.
// The bodies learn their joints, trees and solvers. Error (user): too large.
Error rigid_find_islands(RigidForest *forest, RigidSolver solver, RigidRow *sorted, Arena *arena);

// ---- skyline.c ------------------------------------------------------------------------------------------------------

// How each island is solved, with rows so far in the order of trees.
Error rigid_choose_solvers(RigidForest *forest, RigidRow *rows, RigidSolver solver, Arena *arena);

#endif
