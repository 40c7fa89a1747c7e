// Keys that mean nothing where people run the trials (Model.by_hand): they are refused, so that no user waits for what
// never comes.
#include "keys.h"

#include <string.h>

static void by_hand_refuse(SpecReader *reader, bool given, const char *path, const char *why)
{
    const GivenKey *key = given_find(reader, path);
    if (given && key != NULL) diagnose(reader->diagnostics, key->key, "%s", why);
}

static bool by_hand_other(const char *text, const char *than) { return text != NULL && strcmp(text, than) != 0; }

void by_hand_check_keys(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (spec->model == NULL || !spec->model->by_hand) return;
    by_hand_refuse(reader, spec->replicates.n_perturb > 0, "replicates.perturb",
                   "people run the trials of model manual, and no draw of the program changes what they do: leave "
                   "replicates.perturb out");
    by_hand_refuse(reader, spec->record.rows.some, "record.rows",
                   "all trials of model manual keep a row: leave record.rows out");
    by_hand_refuse(reader, spec->limits.wall_time > 0, "limits.wall_time",
                   "no program runs the trials of model manual: leave limits.wall_time out, and use limits.trials");
    by_hand_refuse(reader, spec->limits.failures < 1, "limits.failures",
                   "no program runs the trials of model manual: leave limits.failures out, and stop asking");
    by_hand_refuse(reader, by_hand_other(spec->device.backend, "auto"), "device.backend",
                   "no device runs the trials of model manual: leave device.backend out");
    by_hand_refuse(reader, spec->store.rows != NULL && strcmp(spec->store.rows, "blocks") == 0, "store.rows",
                   "trials of model manual are rows of a table: leave store.rows out");
    by_hand_refuse(reader, spec->method != NULL && spec->method->gradient_column > 0, "search.method",
                   "methods along a gradient compare trials that differ by a ten-thousandth of a range, which no "
                   "measurement tells apart: use cmaes");
}
