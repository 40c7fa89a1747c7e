// What the files of the overview share.
#ifndef HOPSCOTCH_OVERVIEW_H
#define HOPSCOTCH_OVERVIEW_H

#include "../../campaign/campaign.h"
#include "../view.h"

enum {
    OVERVIEW_LINE = 48, // points of a line of convergence
    OVERVIEW_KEYS = 24, // keys of specs that have a column
};

// The best fitness so far at equal distances in the order of the trials.
typedef struct OverviewLine {
    double best[OVERVIEW_LINE]; // NaN: no trial has a fitness yet
    int count;                  // 0: there is no line
} OverviewLine;

// A key whose value differs among the campaigns of a model. value: [campaigns], NULL: the spec does not have it, or
// the campaign has another model.
typedef struct OverviewKey {
    const char *key, **value;
    int campaigns; // that have it, among those of models whose campaigns differ in it
} OverviewKey;

typedef struct Overview {
    const OverviewOptions *options;
    const StatusEntry **entries; // [count] the newest first
    int count, all;              // all: also those that are too many for a page
    int64_t *bytes;              // [count] -1: can't be told
    OverviewLine *lines;         // [count]
    int without_line;            // campaigns whose trials are too many to be read for a line
    OverviewKey *keys;           // [n_keys] those of the most campaigns first
    int n_keys, all_keys;
    FILE *out;
    Arena *arena;
} Overview;

// Reads the lines (overview_line.c) and draws one.
Error overview_read_lines(Overview *overview);
void overview_put_line(const Overview *overview, int campaign);
// Finds what differs between the specs of campaigns of one model (overview_keys.c).
Error overview_find_keys(Overview *overview);

#endif
