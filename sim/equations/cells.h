// Numbers of a lane that leaves a trail, number k at cells[k]. A CPU has them side by side. Where kernels define
// HOPSCOTCH_CELLS (../trail_cuda.cu) the lanes of a warp share a chunk of memory, in which number k of all of them
// stands together, so that a warp reads neighbouring numbers.
#ifndef HOPSCOTCH_EQUATIONS_CELLS_H
#define HOPSCOTCH_EQUATIONS_CELLS_H

#include "../lanes.h"

#if defined(HOPSCOTCH_CELLS) // C++, for its operators
enum { CELLS_APART = LANES_TOGETHER };
typedef struct Cells {
    double *at;
    HD_MEMBER double &operator[](int64_t k) const { return at[k * CELLS_APART]; }
} Cells;
typedef Cells ConstCells;
HD Cells operator+(Cells cells, int64_t k)
{
    const Cells moved = {cells.at + k * CELLS_APART};
    return moved;
}
HD double *cells_begin(Cells cells) { return cells.at; }
HD Cells cells_of(double *first)
{
    const Cells cells = {first};
    return cells;
}
#else
enum { CELLS_APART = 1 };
typedef double *Cells;
typedef const double *ConstCells;
HD double *cells_begin(Cells cells) { return cells; }
HD Cells cells_of(double *first) { return first; }
#endif

HD void cells_copy(Cells to, ConstCells from, int64_t count)
{
    for (int64_t k = 0; k < count; k++) to[k] = from[k];
}
HD void cells_clear(Cells cells, int64_t count)
{
    for (int64_t k = 0; k < count; k++) cells[k] = 0.0;
}
// Takes the next `count` cells.
HD Cells cells_take(Cells *from, int64_t count)
{
    const Cells at = *from;
    *from = at + count;
    return at;
}

#endif
