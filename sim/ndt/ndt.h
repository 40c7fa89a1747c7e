// What the host side (ndt.c, map.c, thin.c, scenes.c) and the kernel (advance.h) of scan matching by the normal
// distributions transform share. A source cloud is moved onto a target cloud; the target is cut into cubic cells, and a
// cell is known by the mean and the covariance of its points.
// Sources: P. Biber & W. Strasser, The normal distributions transform, IROS 2003 (the idea); M. Magnusson, The
// three-dimensional normal-distributions transform, PhD thesis, Oerebro 2009 (in space; its equations are cited).
#ifndef HOPSCOTCH_NDT_NDT_H
#define HOPSCOTCH_NDT_NDT_H

#include "../real.h"
#include "../sim.h"

#include <string.h>

// A pose [6] is tx, ty, tz (m), roll, pitch, yaw (rad): T(x) = Rx(roll) Ry(pitch) Rz(yaw) x + t. Both clouds may be
// shifted by a common origin, when the source lies far from that of its coordinates: T turns it about that one.
enum { NDT_POSE = 6 };
#define NDT_FAR 1e3 // m, from the middle of the source

// ---- a map (map.c) --------------------------------------------------------------------------------------------------

// Cells that a point is compared with: all with their mean within the resolution; or its own cell and the six that
// share a face with it; or its own cell alone. The last two need no distance.
typedef enum NdtNeighbours { NDT_RADIUS, NDT_DIRECT7, NDT_DIRECT1 } NdtNeighbours;

// Start of the sum of squares: zero, or a unit matrix (m^2).
typedef enum NdtCovariance { NDT_COVARIANCE_ZERO, NDT_COVARIANCE_IDENTITY } NdtCovariance;

// Storage of points and cells; all sums are of doubles.
typedef enum NdtPrecision { NDT_SINGLE, NDT_DOUBLE } NdtPrecision;

// Numbers in one precision; the other pointer is NULL.
typedef struct NdtNumbers {
    const float *single;
    const double *whole;
} NdtNumbers;

enum {
    NDT_CELL_POINTS = 6,    // a cell with fewer has no covariance
    NDT_MATCHES_MAX = 27,   // cells that a point can be compared with
    NDT_CELL_MAX = 1 << 20, // cells along an axis, on each side of the origin
    NDT_CELL_NUMBERS = 6,   // inverse covariance xx xy xz yy yz zz
    NDT_CELL_STRIDE = 8,    // distance of cells, so that four numbers or eight are loaded at once
    NDT_TABLE_NUMBERS = 2,  // of an entry of the table: key, or -1 if it is free; first << 5 | count
    NDT_CANDIDATE = 4,      // numbers of a candidate: a cell's mean x y z, from the cell's corner, and its code
    NDT_OFFSET_BITS = 6,    // of a code: offset of the cell from the voxel, 1 + x | 1 + y << 2 | 1 + z << 4
    NDT_CODE_BITS = 30      // of a code: cell << NDT_OFFSET_BITS | offset
};

// Cells are found by a table of the voxels that have a cell near them: the voxel of a point gives its list of
// candidates in one lookup. Open addressing, linear probing; the size is a power of two, at least twice the number of
// entries. A candidate holds the cell's mean, so that the distance test reads consecutive memory. Its code is in the
// low bits of the fourth number. The next to highest bit is set, so that it is a normal number (converting a
// subnormal one is slow).
typedef struct NdtMap {
    double resolution; // m, the edge of a cell
    double origin[3];  // m: a multiple of the resolution; positions below are relative to it
    double reach2;     // m^2: greatest squared distance of a mean; infinite if distances are not tested
    int64_t table_size, n_candidates, n_cells;
    const int64_t *table;  // [table_size][NDT_TABLE_NUMBERS]
    NdtNumbers candidates; // [n_candidates][NDT_CANDIDATE] (m), list after list, by offset
    NdtNumbers cells;      // [n_cells][NDT_CELL_STRIDE] (1/m^2)
} NdtMap;

typedef struct NdtMapOptions {
    double resolution; // m
    NdtNeighbours neighbours;
    NdtCovariance covariance;
    NdtPrecision precision;
} NdtMapOptions;

// Statistics of the target's points.
typedef struct NdtMapCounts {
    int64_t occupied; // cells that hold a point
    int64_t valid;    // of these, with enough points and a covariance
    int64_t inflated; // of these, so flat that an eigenvalue had to be raised
    int64_t dropped;  // with enough points but no covariance
} NdtMapCounts;

// The code of a candidate, the k-th of `candidates`.
HD_BOTH int32_t ndt_code(const NdtNumbers *candidates, int64_t k)
{
    int32_t code;
    if (candidates->single != NULL) {
        memcpy(&code, candidates->single + NDT_CANDIDATE * k + 3, sizeof code);
    } else {
        int64_t bits;
        memcpy(&bits, candidates->whole + NDT_CANDIDATE * k + 3, sizeof bits);
        code = (int32_t)(bits & INT32_MAX);
    }
    return code & ((1 << NDT_CODE_BITS) - 1);
}

// A copy in the arena, in this precision.
NdtNumbers ndt_numbers(const double *values, int64_t count, NdtPrecision precision, Arena *arena);
// Builds the map of a cloud in the arena. Error (user): the cloud is too wide for cells of that size, or no cell has
// enough points.
Error ndt_map_build(const Cloud *target, const NdtMapOptions *options, Arena *arena, NdtMap *map, NdtMapCounts *counts);
size_t ndt_map_bytes(int64_t points); // most bytes of the arena for the map of `points` points

// ---- cells of a grid (grid.c) ---------------------------------------------------------------------------------------

// A point of a cloud and its cell.
typedef struct NdtKeyedPoint {
    int64_t key;
    int64_t point;
} NdtKeyedPoint;

// The key of the cell with these coordinates, all in [-NDT_CELL_MAX, NDT_CELL_MAX): 21 bits each.
HD_BOTH int64_t ndt_key(int64_t x, int64_t y, int64_t z)
{
    return (z + NDT_CELL_MAX) << 42 | (y + NDT_CELL_MAX) << 21 | (x + NDT_CELL_MAX);
}

// Where the search for a key in a table begins: a multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4),
// from its high bits, which are well mixed.
HD_BOTH uint64_t ndt_hash(int64_t key) { return ((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 24; }

// A multiple of the edge near the middle of the cloud, so that coordinates relative to it are small.
void ndt_choose_origin(const Cloud *cloud, double edge, double *origin);
// keyed[count], by key and, within a cell, by point. Coordinates are relative to `origin`. Error (user): the cloud is
// too wide; names the point that lies farthest from the others.
Error ndt_grid(const Cloud *cloud, double edge, const double *origin, NdtKeyedPoint *keyed);

// ---- fewer points (thin.c) ------------------------------------------------------------------------------------------

// The centroids of the cloud's points in cubic cells with this edge (m), in the order of cells: x first, then y, then
// z. 0: the cloud as it is.
Error ndt_thin(const Cloud *cloud, double edge, Arena *arena, Cloud *out);

// ---- scenes (scenes.c) ----------------------------------------------------------------------------------------------

// Artificial scenes with a known pose, so that nothing has to be downloaded.
typedef enum NdtScene {
    NDT_HALF_CUBE, // three planes of 20 x 20 m that meet in a corner
    NDT_STREET,    // a road of 60 m between boxes and cylinders, which depend on the seed
    NDT_TUNNEL     // an arch of 60 m; it looks the same along its axis x, so no alignment can find x
} NdtScene;

typedef struct NdtSceneOptions {
    NdtScene scene;
    uint64_t seed;          // of the street's shape, and of the noise
    double spacing;         // m between neighbouring points of the target
    double source_spacing;  // m, of the source
    double range;           // m: range of sight of the source
    double noise;           // m, standard deviation, each coordinate of each point
    double truth[NDT_POSE]; // the pose that moves the source onto the target
} NdtSceneOptions;

enum { NDT_SCENE_POINTS_MAX = 1 << 22 };

// Both clouds, sampled independently, in the arena. Error (user): more than NDT_SCENE_POINTS_MAX points.
Error ndt_scene(const NdtSceneOptions *options, Arena *arena, Cloud *target, Cloud *source);
size_t ndt_scene_bytes(const NdtSceneOptions *options); // bytes of the arena for it

// ---- how a step is found (solve.h, line_search.h) -------------------------------------------------------------------

// The last value of each: selected per lane.
typedef enum NdtSolver { NDT_NEWTON, NDT_SADDLE_FREE, NDT_SOLVER_SEARCHED } NdtSolver;
typedef enum NdtLineSearch { NDT_NO_SEARCH, NDT_MORE_THUENTE, NDT_BATCHED, NDT_LINE_SEARCH_SEARCHED } NdtLineSearch;

// ---- the model (ndt.c, assets.c) ------------------------------------------------------------------------------------

// Rows of `simulation:`.
enum {
    NDT_OPTION_TARGET,
    NDT_OPTION_SOURCE,
    NDT_OPTION_TARGET_VOXEL,
    NDT_OPTION_SOURCE_VOXEL,
    NDT_OPTION_SCENE,
    NDT_OPTION_SEED,
    NDT_OPTION_SPACING,
    NDT_OPTION_SOURCE_SPACING,
    NDT_OPTION_RANGE,
    NDT_OPTION_NOISE,
    NDT_OPTION_TRUTH, // [6]
    NDT_OPTION_TRUTH_FILE = NDT_OPTION_TRUTH + NDT_POSE,
    NDT_OPTION_RESOLUTION,
    NDT_OPTION_MAPS,
    NDT_OPTION_NEIGHBOURS,
    NDT_OPTION_COVARIANCE,
    NDT_OPTION_PRECISION,
    NDT_OPTION_SOLVER,
    NDT_OPTION_LINE_SEARCH,
    NDT_OPTION_ITERATIONS,
    NDT_OPTION_NEAR,
    NDT_OPTION_TURNED,
    NDT_OPTION_EXECUTOR,
    NDT_N_OPTIONS
};

// Inputs of a lane, in this order; six are the initial pose.
enum {
    NDT_OUTLIER_RATIO,
    NDT_STEP_SIZE,
    NDT_EPSILON,
    NDT_PULL, // scale, x, y
    NDT_INITIAL = NDT_PULL + 3,
    NDT_N_PARAMETERS = NDT_INITIAL + NDT_POSE
};

// Inputs that a lane has only if the spec asks for them: after those above, in this order.
enum { NDT_OWN_RESOLUTION, NDT_OWN_SOLVER, NDT_OWN_LINE_SEARCH, NDT_N_OWN };

// Metrics of a lane; the final pose is the last six.
enum {
    NDT_METRIC_TRANSLATION,
    NDT_METRIC_ROTATION,
    NDT_METRIC_MISSED,
    NDT_METRIC_SCORE,
    NDT_METRIC_TP,
    NDT_METRIC_NVTL,
    NDT_METRIC_PAIRS,
    NDT_METRIC_ITERATIONS,
    NDT_METRIC_EVALUATIONS,
    NDT_METRIC_OSCILLATION,
    NDT_METRIC_EDGE,
    NDT_METRIC_LAPLACE, // xx, xy, yy
    NDT_METRIC_FINAL = NDT_METRIC_LAPLACE + 3,
    NDT_N_METRICS = NDT_METRIC_FINAL + NDT_POSE
};

// A sample: the iteration, the pose, and results of the last evaluation.
enum { NDT_COLUMN_TIME, NDT_COLUMN_POSE, NDT_COLUMN_SCORE = NDT_COLUMN_POSE + NDT_POSE, NDT_COLUMN_PAIRS, NDT_COLUMNS };

// How the sums over points are ordered (evaluate.h).
enum { NDT_ROW = 32, NDT_CHUNK_ROWS = 8, NDT_CHUNK = NDT_ROW * NDT_CHUNK_ROWS, NDT_CHUNK_SUMS = 32 };

// Doubles that the thread blocks of a GPU share when several work on one alignment: for their barrier, the order, and
// the sums of each chunk (evaluate_team.h).
HD_BOTH int64_t ndt_team_doubles(int64_t points)
{
    return 1 + 1 + NDT_POSE + (points + NDT_CHUNK - 1) / NDT_CHUNK * NDT_ROW;
}

enum { NDT_STATE = 45 }; // doubles of an alignment between slices (NdtAlignment, align.h)

// A map within the assets: its numbers, and the start of its arrays.
typedef struct NdtMapAt {
    double resolution, origin[3], reach2;
    int64_t n_cells, table_size, n_candidates;
    int64_t cells, table, candidates; // doubles into the assets
} NdtMapAt;
// Doubles that `count` numbers take in the assets, where each array begins at an even index.
HD_BOTH int64_t ndt_packed(int64_t count, bool halves) { return ((halves ? (count + 1) / 2 : count) + 1) / 2 * 2; }

enum { NDT_MAP_AT = sizeof(NdtMapAt) / sizeof(double), NDT_MAPS_MAX = 32 };

// Shared by all lanes; stored in sim.h's Constants. The assets: the maps as NdtMapAt; x, y and z of the source; the
// arrays of the maps. Two numbers of single precision share a double.
typedef struct NdtConstants {
    double truth[NDT_POSE];
    double middle[3], true_middle[3];  // m: the mean of the source's points; where the true pose moves it
    double origin[3];                  // m: what both clouds are shifted by
    double near_enough, turned_enough; // m, rad: limits of the errors of an alignment that has not missed
    int64_t n_maps, n_source;
    int32_t own[NDT_N_OWN]; // index of such an input; 0: lanes do not have it
    int32_t max_iterations, solver, line_search, precision;
} NdtConstants;

extern const Iterations ndt_iterations; // view.c
// As Model.explain.
int ndt_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);

// Sets own[NDT_N_OWN] for these settings; returns the number of inputs of a lane.
int ndt_number_own(const double *settings, const Points *points, int32_t *own);

// Model.build: computes the maps and the source in the assets from the clouds of files or a scene.
Error ndt_build_assets(const double *settings, const Points *points, Arena *arena, Configured *configured);

#endif
