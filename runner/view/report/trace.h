// Tables, pictures and animations of the trace of a replayed trial.
#ifndef HOPSCOTCH_TRACE_H
#define HOPSCOTCH_TRACE_H

#include "../plots/plot.h"

double trace_ground(const ReplayTrace *trace, double x); // height of the ground (m)
double trace_height(const ReplayTrace *trace);           // the greatest height of the motion over the ground (m)
int trace_phase(const ReplayTrace *trace, int64_t i);    // -1: none

// Whether a column stays constant up to rounding (trace_constant.c). A page names constant columns in a paragraph, a
// picture in a line.
typedef struct TraceConstant {
    bool is;
    double value; // NaN: the column has none
} TraceConstant;
const TraceConstant *trace_constants(const ReplayTrace *trace, Arena *arena, int *count);
void trace_put_constants(const ReplayTrace *trace, FILE *out, Arena *arena);
void trace_plot_constants(const ReplayTrace *trace, Plot *plot, Arena *arena);

// Poses in space at rows from `first` to `end`, side by side (trace_poses.c).
void trace_plot_poses(const ReplayTrace *trace, Plot *plot, const char *title, int64_t first, int64_t end,
                      Arena *arena);
// One figure in a picture of this size: where it stands in all rows, and the figure of row i (trace_plot.c; in space
// trace_poses.c).
TraceStage trace_figure_stage(const ReplayTrace *trace, double width, double height);
void trace_figure_at(const ReplayTrace *trace, const TraceStage *stage, int64_t i, FILE *out);
TraceStage trace_pose_stage(const ReplayTrace *trace, double width, double height, Arena *arena);
void trace_pose_at(const ReplayTrace *trace, const TraceStage *stage, int64_t i, FILE *out, Arena *arena);
// Rows of the trace per frame of an animation, of which about `fit` frames fit into a page.
int64_t trace_rows_per_frame(const ReplayTrace *trace, int64_t fit);
// The fields of a motion in space (trace_scene.c), and of the ground below any motion: heights at even steps, from
// `margin` (m) before low to `margin` behind high.
void trace_put_scene(const ReplayTrace *trace, Json *json, Arena *arena);
void trace_put_ground(const ReplayTrace *trace, double low, double high, double margin, Json *json);

// Panels: figures in one cycle of the motion, and each column that changes, against time (trace_plot.c).
void trace_plot_phases(const ReplayTrace *trace, Plot *plot, Arena *arena);
void trace_plot_series(const ReplayTrace *trace, Plot *plot, Arena *arena);
// The names of the phases that the curves shade; "": none.
const char *trace_shaded(const ReplayTrace *trace, Arena *arena);
// Shades the first TRACE_SHADED phases of the drawing, which are those on the ground, against time.
enum { TRACE_SHADED = 2 };
void trace_draw_bands(const ReplayTrace *trace, const PlotPanel *panel);
// A column of the recorded motion that the replicate is compared with. False: it is not recorded.
typedef struct TraceRecorded {
    const double *time, *value; // of row r at [r * columns]; NaN: a gap
    int64_t rows, columns;
} TraceRecorded;
bool trace_find_recorded(const ReplayTrace *trace, int column, TraceRecorded *out);
// Whether the curves have dots: of the recorded motion that the trial is compared with.
bool trace_has_recorded(const ReplayTrace *trace);

// Pages (trace_page.c).
const char *trace_name(const ReplayTrace *trace, Arena *arena); // "smoke/5898"
// Writes an element of this class, which a script of the page fills, and JSON for it, an entry per trace.
typedef Error TracePut(const ReplayTrace *trace, Json *json, Arena *arena);
Error trace_put_json(const ReplayTrace *const *traces, int count, const char *class_name, TracePut *put, FILE *out,
                     Arena *arena);
Error trace_put_motions(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
// Writes JSON of one more motion, which the page plays where a reader asks for its trial. trace_frame_bytes: its size
// per frame, about.
Error trace_put_another(const ReplayTrace *trace, FILE *out, Arena *arena);
int64_t trace_frame_bytes(const Drawing *drawing);
// The beginning of a page of traces up to its first section, which is open; the beginning of a trace's section.
Error trace_page_begin(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
void trace_page_heading(const ReplayTrace *trace, FILE *out, Arena *arena);

#endif
