// The solve of A u = b for a tree of bodies, A in blocks of 6 by 6: from the leaves to the root and back, without
// fill-in. With B_i the block that couples body i to its parent p:
//     X_i = A_i^-1 B_i,   A_p -= B_i' X_i,   b_p -= X_i' b_i,   u_i = A_i^-1 b_i - X_i u_p
// Source: D. Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996. Blocks are packed (spatial/
// packed.h), rows and columns in the order velocity, angular velocity.
#ifndef HOPSCOTCH_ARTICULATED_TREE_H
#define HOPSCOTCH_ARTICULATED_TREE_H

#include "memory.h"

// ---- rows added to a body's block -----------------------------------------------------------------------------------
// A point at r from a body's centre moves with v + w x r = G u, G = [I, -[r]], [r] the matrix of the cross product.

// A += k G' G
HD void body_block_add_point(real *a, real k, Vector3 r)
{
    const real kx = k * r.x, ky = k * r.y, kz = k * r.z;
    for (int i = 0; i < 3; i++) a[packed(i, i)] = a[packed(i, i)] + k;
    a[packed(3, 1)] = a[packed(3, 1)] - kz;
    a[packed(3, 2)] = a[packed(3, 2)] + ky;
    a[packed(4, 0)] = a[packed(4, 0)] + kz;
    a[packed(4, 2)] = a[packed(4, 2)] - kx;
    a[packed(5, 0)] = a[packed(5, 0)] - ky;
    a[packed(5, 1)] = a[packed(5, 1)] + kx;
    a[packed(3, 3)] = fused(ky, r.y, fused(kz, r.z, a[packed(3, 3)]));
    a[packed(4, 4)] = fused(kx, r.x, fused(kz, r.z, a[packed(4, 4)]));
    a[packed(5, 5)] = fused(kx, r.x, fused(ky, r.y, a[packed(5, 5)]));
    a[packed(4, 3)] = fused(-kx, r.y, a[packed(4, 3)]);
    a[packed(5, 3)] = fused(-kx, r.z, a[packed(5, 3)]);
    a[packed(5, 4)] = fused(-ky, r.z, a[packed(5, 4)]);
}

// A += k J' J
HD void body_block_add_row(real *a, real k, const real *J)
{
    for (int i = 0; i < 6; i++) {
        const real kJ = k * J[i];
        for (int j = 0; j <= i; j++) a[packed(i, j)] = fused(kJ, J[j], a[packed(i, j)]);
    }
}

// A += K for angular velocities: K = k I + more n n'
HD void body_block_add_turn(real *a, real k, real more, Vector3 n)
{
    const Vector3 m = scaled(more, n);
    a[packed(3, 3)] = fused(m.x, n.x, a[packed(3, 3)] + k);
    a[packed(4, 4)] = fused(m.y, n.y, a[packed(4, 4)] + k);
    a[packed(5, 5)] = fused(m.z, n.z, a[packed(5, 5)] + k);
    a[packed(4, 3)] = fused(m.y, n.x, a[packed(4, 3)]);
    a[packed(5, 3)] = fused(m.z, n.x, a[packed(5, 3)]);
    a[packed(5, 4)] = fused(m.z, n.y, a[packed(5, 4)]);
}

// B[36] <- -(k G_c' G_p), rows of the child c, columns of the parent p
HD void coupling_of_point(real *b, real k, Vector3 c, Vector3 p)
{
    for (int i = 0; i < 36; i++) b[i] = splat(0.0);
    for (int i = 0; i < 3; i++) b[7 * i] = -k;
    // velocity of c, angular velocity of p: k [p]
    b[4] = -(k * p.z);
    b[5] = k * p.y;
    b[9] = k * p.z;
    b[11] = -(k * p.x);
    b[15] = -(k * p.y);
    b[16] = k * p.x;
    // angular velocity of c, velocity of p: -k [c]
    b[19] = k * c.z;
    b[20] = -(k * c.y);
    b[24] = -(k * c.z);
    b[26] = k * c.x;
    b[30] = k * c.y;
    b[31] = -(k * c.x);
    // k [c] [p] = k (p c' - (c.p) I)
    const real cp = dot3(c, p);
    const Vector3 kc = scaled(k, c);
    b[21] = fused(p.x, kc.x, -(k * cp));
    b[22] = p.x * kc.y;
    b[23] = p.x * kc.z;
    b[27] = p.y * kc.x;
    b[28] = fused(p.y, kc.y, -(k * cp));
    b[29] = p.y * kc.z;
    b[33] = p.z * kc.x;
    b[34] = p.z * kc.y;
    b[35] = fused(p.z, kc.z, -(k * cp));
}

// B -= k J_c' J_p
HD void coupling_add_row(real *b, real k, const real *Jc, const real *Jp)
{
    for (int i = 0; i < 6; i++) {
        const real kJ = -(k * Jc[i]);
        for (int j = 0; j < 6; j++) b[6 * i + j] = fused(kJ, Jp[j], b[6 * i + j]);
    }
}

// B -= K, as body_block_add_turn
HD void coupling_add_turn(real *b, real k, real more, Vector3 n)
{
    const real m[3] = {more * n.x, more * n.y, more * n.z}, of[3] = {n.x, n.y, n.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) b[21 + 6 * i + j] = fused(-m[i], of[j], b[21 + 6 * i + j]);
        b[21 + 7 * i] = b[21 + 7 * i] - k;
    }
}

// the row J of the velocity along n of a point at r
HD void row_of_point(Vector3 n, Vector3 r, real *J)
{
    const Vector3 turn = cross3(r, n);
    J[0] = n.x;
    J[1] = n.y;
    J[2] = n.z;
    J[3] = turn.x;
    J[4] = turn.y;
    J[5] = turn.z;
}

// b += sign G' f, and a torque
HD void side_add(real *b, real sign, Vector3 r, Vector3 force, Vector3 torque)
{
    const Vector3 turn = added(cross3(r, force), torque);
    b[0] = fused(sign, force.x, b[0]);
    b[1] = fused(sign, force.y, b[1]);
    b[2] = fused(sign, force.z, b[2]);
    b[3] = fused(sign, turn.x, b[3]);
    b[4] = fused(sign, turn.y, b[4]);
    b[5] = fused(sign, turn.z, b[5]);
}

// ---- elimination ----------------------------------------------------------------------------------------------------

// A = L D L' in place, L without its diagonal of ones; the diagonal holds 1/D. A is positive definite.
HD_INLINE void body_block_factor(real *a)
{
    real y[6]; // row i of L D
    UNROLL for (int i = 0; i < 6; i++)
    {
        real d = a[packed(i, i)];
        UNROLL for (int j = 0; j < i; j++)
        {
            y[j] = a[packed(i, j)];
            UNROLL for (int m = 0; m < j; m++) y[j] = fused(-y[m], a[packed(j, m)], y[j]);
            const real l = y[j] * a[packed(j, j)];
            a[packed(i, j)] = l;
            d = fused(-l, y[j], d);
        }
        a[packed(i, i)] = 1.0 / d;
    }
}

// x <- A^-1 x
HD_INLINE void body_block_solve(const real *a, real *x)
{
    UNROLL for (int i = 1; i < 6; i++)
    {
        UNROLL for (int j = 0; j < i; j++) x[i] = fused(-a[packed(i, j)], x[j], x[i]);
    }
    UNROLL for (int i = 0; i < 6; i++) x[i] = x[i] * a[packed(i, i)];
    UNROLL for (int i = 4; i >= 0; i--)
    {
        UNROLL for (int j = i + 1; j < 6; j++) x[i] = fused(-a[packed(j, i)], x[j], x[i]);
    }
}

// What an eliminated body adds to its parent's block and right-hand side.
typedef struct ArticulatedPassed {
    real a[PACKED_CELLS], b[6];
} ArticulatedPassed;

// Eliminates a body: a[21], b[6] its block and right-hand side, B[36] its coupling; `passed` holds what the joint's
// rows add to the parent, and gets what the elimination takes off.
HD void tree_eliminate(const ArticulatedLanes *w, int body, real *a, real *b, const real *B, ArticulatedPassed *passed)
{
    const int at = articulated_at(body);
    real X[6];
    body_block_factor(a);
    for (int c = 0; c < 6; c++) {
        UNROLL for (int i = 0; i < 6; i++) X[i] = B[6 * i + c];
        body_block_solve(a, X);
        UNROLL for (int i = 0; i < 6; i++)
        {
            set_limb(w, at + ARTICULATED_UP + 6 * i + c, X[i]);
            passed->b[c] = fused(-X[i], b[i], passed->b[c]);
        }
        for (int d = c; d < 6; d++) {
            real sum = passed->a[packed(d, c)];
            UNROLL for (int i = 0; i < 6; i++) sum = fused(-B[6 * i + d], X[i], sum);
            passed->a[packed(d, c)] = sum;
        }
    }
    body_block_solve(a, b);
    limbs_put(w, at + ARTICULATED_U, 6, b);
}

// u of a body, after its parent's.
HD void tree_lower(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    real u[6], up[6];
    if (parent < 0 || w->bodies[body].kind == ROBOT_FREE) return;
    limbs_take(w, at + ARTICULATED_U, 6, u);
    limbs_take(w, articulated_at(parent) + ARTICULATED_U, 6, up);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) u[i] = fused(-limb(w, at + ARTICULATED_UP + 6 * i + j), up[j], u[i]);
    }
    limbs_put(w, at + ARTICULATED_U, 6, u);
}

#endif
