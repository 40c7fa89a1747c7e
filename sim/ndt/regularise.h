// Holds an alignment where the scene does not, such as along a road or a tunnel: by a second measurement of the
// position, for example from a satellite. Only its component along the heading counts. With d the distance from the
// pose to it along the axis x of the source, s the scale and n the correspondences
//     score -= s n d^2       d = (x' - x) cos(yaw) + (y' - y) sin(yaw)
// As in Autoware's scan matcher, d is differentiated by x and y only. This file also computes the uncertainty of the
// position: the covariance from the Hessian of the score (Laplace's approximation: the inverse of its negative).
#ifndef HOPSCOTCH_NDT_REGULARISE_H
#define HOPSCOTCH_NDT_REGULARISE_H

#include "evaluate.h"

HD void ndt_regularise(const NdtTask *task, const double *pose, NdtSums *sums)
{
    real sine, cosine;
    if (task->pull.scale == 0.0) return;
    sine_cosine(splat(pose[5]), &sine, &cosine);
    const double s = lane_of(sine, 0), c = lane_of(cosine, 0), weight = task->pull.scale * sums->at[NDT_PAIRS];
    const double d = (task->pull.x - pose[0]) * c + (task->pull.y - pose[1]) * s;
    sums->at[NDT_SCORE] -= weight * d * d;
    sums->at[NDT_GRADIENT] += 2.0 * weight * d * c;
    sums->at[NDT_GRADIENT + 1] += 2.0 * weight * d * s;
    sums->at[NDT_HESSIAN + ndt_triangle(0, 0)] -= 2.0 * weight * c * c;
    sums->at[NDT_HESSIAN + ndt_triangle(0, 1)] -= 2.0 * weight * c * s;
    sums->at[NDT_HESSIAN + ndt_triangle(1, 1)] -= 2.0 * weight * s * s;
}

// The sums of a pose with the regularisation.
HD void ndt_value(const NdtTask *task, const double *pose, NdtSums *sums)
{
    ndt_evaluate(task, pose, sums);
    ndt_regularise(task, pose, sums);
}

// covariance[3] of x and y: xx, xy, yy; NaN if the score has no maximum. In units of the score, which is not a
// probability: it compares directions and positions; for metres the user must choose a factor.
HD void ndt_laplace(const NdtSums *sums, double *covariance)
{
    const double xx = -sums->at[NDT_HESSIAN + ndt_triangle(0, 0)], xy = -sums->at[NDT_HESSIAN + ndt_triangle(0, 1)];
    const double yy = -sums->at[NDT_HESSIAN + ndt_triangle(1, 1)], determinant = xx * yy - xy * xy;
    const bool maximum = xx > 0.0 && determinant > 0.0;
    const double none = 0.0 / (maximum ? 1.0 : 0.0); // NaN, or 0
    covariance[0] = yy / determinant + none;
    covariance[1] = -xy / determinant + none;
    covariance[2] = xx / determinant + none;
}

#endif
