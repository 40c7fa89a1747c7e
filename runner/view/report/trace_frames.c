// A motion as pictures, one per frame of a video. One clock: frame k shows the last sample up to the time k / fps.
// Scale and camera are those of all frames; the camera follows the figure, and marks on the ground stay where they are.
#include "trace.h"

#include <math.h>
#include <string.h>

enum { FRAMES_MOST = 20000 };
#define FRAME_WIDTH 640.0 // pixels of the drawing; a frame has FRAME_DENSITY times as many
#define FRAME_HEIGHT 360.0
#define FRAME_DENSITY 2

static bool frames_are_solid(const ReplayTrace *trace) { return trace_drawing(trace)->n_solids > 0; }

Error trace_frames(const ReplayTrace *trace, int fps, Arena *arena, TraceFrames *frames)
{
    if (trace_drawing(trace) == NULL || trace->count == 0)
        return error_make(ERROR_USER, "model %s has no drawing: --svg draws its columns, -o FILE.csv writes them",
                          trace->campaign->spec.model->name);
    const double first = trace->row[0], seconds = trace->row[(trace->count - 1) * trace->n_columns] - first;
    *frames = (TraceFrames){.fps = fps, .first = first, .count = 1 + (int64_t)floor(seconds * fps + 1e-6)};
    if (frames->count > FRAMES_MOST)
        return error_make(ERROR_USER,
                          "%.0f s at %d frames per second are more than %d frames: name a lower --fps or a shorter "
                          "--window START,END",
                          seconds, fps, (int)FRAMES_MOST);
    frames->repeats = trace->count > 1 && (double)(trace->count - 1) < 0.9 * seconds * fps;
    frames->stage = frames_are_solid(trace) ? trace_pose_stage(trace, FRAME_WIDTH, FRAME_HEIGHT, arena)
                                            : trace_figure_stage(trace, FRAME_WIDTH, FRAME_HEIGHT);
    return error_none();
}

static int64_t frames_row(const ReplayTrace *trace, double time)
{
    int64_t low = 0, high = trace->count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (trace->row[middle * trace->n_columns] <= time + 1e-9)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void trace_write_frame(const ReplayTrace *trace, const TraceFrames *frames, int64_t k, FILE *out, Arena *arena)
{
    const size_t used = arena->used;
    const double time = frames->first + (double)k / frames->fps;
    const int64_t i = frames_row(trace, time);
    const int phase = trace_phase(trace, i);
    const bool failed = k + 1 == frames->count && strcmp(trace->failure, "none") != 0;
    const char *size = arena_format(arena, "width=\"%.0f\" height=\"%.0f\"", FRAME_DENSITY * FRAME_WIDTH,
                                    FRAME_DENSITY * FRAME_HEIGHT);
    plot_begin_picture(size, (const double[4]){0, 0, FRAME_WIDTH, FRAME_HEIGHT}, trace_name(trace, arena), out);
    fputs("<g class=\"p\">", out);
    if (frames_are_solid(trace))
        trace_pose_at(trace, &frames->stage, i, out, arena);
    else
        trace_figure_at(trace, &frames->stage, i, out);
    svg_text(out, "la", 14, 22, "start",
             arena_format(arena, "%s, %.3f s%s%s%s%s", trace_name(trace, arena), time, phase >= 0 ? ", " : "",
                          phase >= 0 ? trace_drawing(trace)->phases[phase] : "", failed ? ", then it failed: " : "",
                          failed ? trace->failure : ""));
    fputs("</g></svg>\n", out);
    arena_rewind(arena, used);
}
