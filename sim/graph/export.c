// Exports a graph and a run: Graphviz's DOT, and the trace format of chrome://tracing. Sources: The DOT Language
// (graphviz.org); Trace Event Format (the Chromium project).
#include "building.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Prints short texts.
PRINTF_LIKE(2, 3) static void export_print(TextSink out, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0) out.write(out.to, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

// A name in quotes, for both formats: characters other than printable ASCII become '?'.
static void export_name(TextSink out, const char *name)
{
    out.write(out.to, "\"", 1);
    for (; *name != '\0'; name++) {
        const unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\') out.write(out.to, "\\", 1);
        out.write(out.to, c >= 0x20 && c < 0x7f ? name : "?", 1);
    }
    out.write(out.to, "\"", 1);
}

// ---- DOT ------------------------------------------------------------------------------------------------------------

static int64_t export_taken(const GraphProfile *profile, int step) { return profile->end[step] - profile->start[step]; }

static void export_dot_nodes(const GraphProgram *program, const GraphProfile *profile, const bool *critical,
                             TextSink out)
{
    for (int l = 0; l < program->n_levels; l++) {
        export_print(out, "  { rank=same; // level %d\n", l);
        for (int k = program->level[l]; k < program->level[l + 1]; k++) {
            const int node = program->steps[k].node;
            export_print(out, "    n%d [label=", node);
            export_name(out, graph_node_name(program->graph, node));
            if (profile != NULL)
                export_print(out, ", xlabel=\"%.2f us, thread %d\"", 1e-3 * (double)export_taken(profile, k),
                             profile->thread[k]);
            export_print(out, "%s];\n", critical[node] ? ", color=red" : "");
        }
        export_print(out, "  }\n");
    }
}

void graph_write_dot(const GraphProgram *program, const GraphProfile *profile, TextSink out, Arena *scratch)
{
    const size_t used = scratch->used;
    bool *critical = ARENA_NEW(scratch, bool, program->n_steps + 1);
    int *after = ARENA_NEW(scratch, int, program->n_steps + 1); // along the critical path
    const GraphReport report = profile != NULL ? graph_report(program, profile, scratch) : (GraphReport){0};
    for (int n = 0; n < program->n_steps; n++) after[n] = -1;
    for (int k = 0; k < report.path_length; k++) {
        critical[report.path[k]] = true;
        if (k + 1 < report.path_length) after[report.path[k]] = report.path[k + 1];
    }
    export_print(out, "digraph step {\n  rankdir=LR;\n  node [shape=box];\n");
    export_dot_nodes(program, profile, critical, out);
    for (int e = 0; e < program->graph->n_edges; e++) {
        const GraphEdge *edge = &program->graph->edges[e];
        export_print(out, "  n%d -> n%d%s;\n", edge->before, edge->after,
                     after[edge->before] == edge->after ? " [color=red]" : "");
    }
    export_print(out, "}\n");
    arena_rewind(scratch, used);
}

// ---- a trace --------------------------------------------------------------------------------------------------------

void graph_write_trace(const GraphProgram *program, const GraphProfile *profile, TextSink out, Arena *scratch)
{
    const size_t used = scratch->used;
    const GraphReport report = graph_report(program, profile, scratch);
    export_print(out, "{\"displayTimeUnit\": \"ns\",\n \"otherData\": {\"wall_us\": %.3f, \"work_us\": %.3f, ",
                 1e-3 * (double)report.wall, 1e-3 * (double)report.work);
    export_print(out, "\"critical_path_us\": %.3f, \"parallelism\": %.3f, \"threads\": %d},\n \"traceEvents\": [",
                 1e-3 * (double)report.critical_path, report.parallelism, program->threads);
    for (int t = 0; t < program->threads; t++)
        export_print(out,
                     "%s\n  {\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": %d, "
                     "\"args\": {\"name\": \"thread %d\"}}",
                     t > 0 ? "," : "", t, t);
    for (int k = 0; k < program->n_steps; k++) {
        export_print(out, ",\n  {\"name\": ");
        export_name(out, graph_node_name(program->graph, program->steps[k].node));
        export_print(out, ", \"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f}", profile->thread[k],
                     1e-3 * (double)profile->start[k], 1e-3 * (double)export_taken(profile, k));
    }
    export_print(out, "\n]}\n");
    arena_rewind(scratch, used);
}
