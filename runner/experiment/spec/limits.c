// The limits of a spec, for the reference page.
#include "keys.h"

#include <stdio.h>

typedef struct LimitRow {
    const char *what;
    double most;
    const char *unit; // NULL: bytes
} LimitRow;

static const LimitRow limits_rows[] = {
    {"a spec's file", YAML_BYTES_MAX, NULL},
    {"a spec with every value written out", RESOLVED_BYTES_MAX, NULL},
    {"a file of points", (double)POINTS_BYTES_MAX, NULL},
    {"files that a spec includes, together no larger than it", INCLUDES_MAX, "files"},
    {"nesting", YAML_DEPTH_MAX, "levels"},
    {"values, an alias counting as often as it is used", YAML_NODES_MAX, "values"},
    {"anchors", YAML_ANCHORS_MAX, "anchors"},
    {"a name", NAME_LENGTH_MAX, "of A-Z a-z 0-9 . _ -, not starting with . or -"},
    {"an integer", (double)INTEGER_MAX, "(2^53 - 1)"},
    {"an expression", EXPRESSION_LENGTH, "characters"},
    {"nesting of an expression", EXPRESSION_DEPTH, "levels"},
    {"search.union", UNION_MAX, "blocks"},
    {"search.exclude", EXCLUDE_MAX, "expressions"},
    {"constraints", CONSTRAINTS_MAX, "expressions"},
    {"trials, before exclude", (double)TRIALS_MAX, "trials"},
    {"searches side by side, of all points of `outer`", SEARCHES_MAX, "searches"},
    {"replicates of a trial", REPLICATES_MAX, "replicates"},
    {"points of a terrain", POINTS_MAX, "points"},
    {"trajectories of one trial", (double)RECORD_TRIAL_BYTES_MAX, NULL},
    {"debug rows of one trial", (double)RECORD_BYTES_MAX, NULL},
};

void limits_reference(FILE *out)
{
    fputs("\nLIMITS\n\n", out);
    for (size_t i = 0; i < sizeof limits_rows / sizeof *limits_rows; i++) {
        const LimitRow *row = &limits_rows[i];
        const Text32 most = row->unit == NULL ? text_bytes(row->most) : text_count((int64_t)row->most);
        fprintf(out, "%-50s  %s %s\n", row->what, most.text, row->unit != NULL ? row->unit : "");
    }
}
