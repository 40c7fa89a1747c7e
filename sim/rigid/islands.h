// The bodies of a world and the constraints between them, while islands.c and skyline.c order them.
#ifndef HOPSCOTCH_RIGID_ISLANDS_H
#define HOPSCOTCH_RIGID_ISLANDS_H

#include "rigid.h"

typedef struct RigidForest {
    RigidBody *bodies; // input, as are rows and as_trees
    int n_bodies, n_rows;
    const RigidRow *rows;
    bool as_trees;        // where rows close loops, the order of rows is that of trees for any solver
    int *next[2], *first; // rows of a body, as a list: next[side][row], 2 row + side
    int *order, n_order;  // bodies that move, parents before children
    int *parent;          // -2: not seen yet; -1: a root
    RigidJoint *joints;
    int n_joints;
    RigidIsland *islands;       // `first` in the order of the walk
    int n_islands, n_loop_rows; // rows that close loops of islands solved by trees
    int n_closing;              // rows that close loops, for any solver
} RigidForest;

int rigid_other(const RigidForest *forest, int link); // the other body of a row in a body's list

// Computes the members of a forest that are not input. sorted[n_rows]: its rows, island by island. Sets the joints,
// trees and solvers of the bodies. Error (user): too large.
Error rigid_find_islands(RigidForest *forest, RigidSolver solver, RigidRow *sorted, Arena *arena);

// ---- skyline.c ------------------------------------------------------------------------------------------------------

// Chooses the solver of each island; rows are still in the order of trees.
Error rigid_choose_solvers(RigidForest *forest, RigidRow *rows, RigidSolver solver, Arena *arena);

#endif
