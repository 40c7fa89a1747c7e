// A pose as matrices: T(x) = R x + t with R = Rx(roll) Ry(pitch) Rz(yaw), and the first and second derivatives of R by
// the three angles (Magnusson 2009, equations 6.17 to 6.21, there for another order of rotations). They are computed as
// products of the three factors' derivatives, so that no coefficient is written by hand.
#ifndef HOPSCOTCH_NDT_FRAME_H
#define HOPSCOTCH_NDT_FRAME_H

#include "../portable_math.h"
#include "ndt.h"

typedef struct NdtMatrix {
    double at[3][3]; // [row][column]
} NdtMatrix;

// Pairs of angles, in the order of the upper triangle of a Hessian: roll-roll, roll-pitch, ... yaw-yaw.
enum { NDT_ANGLES = 3, NDT_ANGLE_PAIRS = 6 };

typedef struct NdtFrame {
    double translation[3]; // m, relative to the map's origin
    NdtMatrix rotation;
    NdtMatrix first[NDT_ANGLES];       // dR / d angle
    NdtMatrix second[NDT_ANGLE_PAIRS]; // d2R / d angle d angle
} NdtFrame;

// The n-th derivative by the angle, n = 0, 1, 2, of the rotation about an axis.
HD NdtMatrix ndt_turn(int axis, double s, double c, int n)
{
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const double cosine_n = n == 0 ? c : n == 1 ? -s : -c, sine_n = n == 0 ? s : n == 1 ? c : -s;
    NdtMatrix m;
    memset(&m, 0, sizeof m);
    m.at[axis][axis] = n == 0 ? 1.0 : 0.0;
    m.at[a][a] = cosine_n;
    m.at[b][b] = cosine_n;
    m.at[a][b] = -sine_n;
    m.at[b][a] = sine_n;
    return m;
}

HD NdtMatrix ndt_product(const NdtMatrix *a, const NdtMatrix *b)
{
    NdtMatrix m;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m.at[i][j] = a->at[i][0] * b->at[0][j] + a->at[i][1] * b->at[1][j] + a->at[i][2] * b->at[2][j];
    }
    return m;
}

// The product of the three rotations, each differentiated the given number of times.
HD NdtMatrix ndt_turns(const double *s, const double *c, int roll, int pitch, int yaw)
{
    const NdtMatrix x = ndt_turn(0, s[0], c[0], roll), y = ndt_turn(1, s[1], c[1], pitch);
    const NdtMatrix z = ndt_turn(2, s[2], c[2], yaw), xy = ndt_product(&x, &y);
    return ndt_product(&xy, &z);
}

HD void ndt_sines(const double *pose, double *s, double *c)
{
    for (int k = 0; k < NDT_ANGLES; k++) {
        real sine_k, cosine_k;
        sine_cosine(splat(pose[3 + k]), &sine_k, &cosine_k);
        s[k] = lane_of(sine_k, 0);
        c[k] = lane_of(cosine_k, 0);
    }
}

HD NdtMatrix ndt_rotation(const double *pose)
{
    double s[NDT_ANGLES], c[NDT_ANGLES];
    ndt_sines(pose, s, c);
    return ndt_turns(s, c, 0, 0, 0);
}

// out[3]: where the pose moves a point (m).
HD void ndt_moved(const double *pose, const double *point, double *out)
{
    const NdtMatrix R = ndt_rotation(pose);
    for (int a = 0; a < 3; a++)
        out[a] = R.at[a][0] * point[0] + R.at[a][1] * point[1] + R.at[a][2] * point[2] + pose[a];
}

// The k-th matrix of a frame: R, then its first derivatives, then the second ones.
HD NdtMatrix ndt_frame_matrix(const double *s, const double *c, int k)
{
    int by[NDT_ANGLES] = {k == 1, k == 2, k == 3}; // number of derivatives by each angle
    for (int i = 0, n = 1 + NDT_ANGLES; i < NDT_ANGLES; i++) {
        for (int j = i; j < NDT_ANGLES; j++, n++) {
            by[i] += n == k;
            by[j] += n == k;
        }
    }
    return ndt_turns(s, c, by[0], by[1], by[2]);
}

HD NdtFrame ndt_frame(const double *pose, const double *origin)
{
    NdtFrame f;
    double s[NDT_ANGLES], c[NDT_ANGLES];
    ndt_sines(pose, s, c);
    for (int a = 0; a < 3; a++) f.translation[a] = pose[a] - origin[a];
    f.rotation = ndt_frame_matrix(s, c, 0);
    for (int k = 0; k < NDT_ANGLES; k++) f.first[k] = ndt_frame_matrix(s, c, 1 + k);
    for (int k = 0; k < NDT_ANGLE_PAIRS; k++) f.second[k] = ndt_frame_matrix(s, c, 1 + NDT_ANGLES + k);
    return f;
}

#endif
