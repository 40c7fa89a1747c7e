// hopscotch status: prints one campaign in detail; without a name it is `hopscotch list`.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- searches that learn --------------------------------------------------------------------------------------------

// Columns of a table with one row per search, and which searches have them: with several objectives a front instead of
// a step size; along gradients the length of the last step, and how good the last gradient was as far as that is known.
// Those of a model of the fitness follow.
enum { STATUS_OUTER_MAX = 16, STATUS_SEARCHES_SHOWN = 20 };
typedef enum StatusOf {
    OF_ONE = 1,
    OF_GRADIENT = 2,
    OF_SEVERAL = 4,
    OF_MODEL = 8,
    OF_ALL = OF_ONE + OF_GRADIENT + OF_SEVERAL + OF_MODEL,
    OF_SPREAD = 16,
    OF_COSINE = 32,
    OF_GROWTH = 64
} StatusOf;
#define WHOLE(member) offsetof(SearchProgress, member), true
#define REAL(member) offsetof(SearchProgress, member), false
static const struct {
    const char *name;
    size_t member;
    bool whole; // an int64_t, else a double
    int of;     // StatusOf, a sum
} status_columns[] = {{"search", WHOLE(search), OF_ALL},
                      {"generations", WHOLE(generations), OF_ALL},
                      {"evaluations", WHOLE(evaluations), OF_ALL},
                      {"population", WHOLE(population), OF_ALL},
                      {"sigma", REAL(sigma), OF_ONE},
                      {"condition", REAL(condition), OF_ONE},
                      {"step", REAL(sigma), OF_GRADIENT},
                      {"gradient", REAL(gradient), OF_GRADIENT},
                      {"spread", REAL(signs.spread), OF_SPREAD},
                      {"cosine", REAL(signs.cosine), OF_COSINE},
                      {"growth", REAL(signs.growth), OF_GROWTH},
                      {"best", REAL(best), OF_ONE + OF_GRADIENT + OF_MODEL},
                      {"front", WHOLE(front), OF_SEVERAL},
                      {"hypervolume", REAL(hypervolume), OF_SEVERAL},
                      {"ends", WHOLE(ends), OF_ALL}};
#undef WHOLE
#undef REAL
enum { STATUS_COLUMNS = sizeof status_columns / sizeof *status_columns };

// How the searches of a campaign are shown. The values of an outer grid follow the number of the search.
typedef struct StatusSearches {
    Database *database;
    SearchOrder order; // best first; with an outer grid, in the order of its points
    RoundColumns columns;
    int has;      // StatusOf, a sum
    Cursor signs; // of gradients
    const char *outer[STATUS_OUTER_MAX];
    int n_outer;
    Cursor outer_values;
} StatusSearches;

static bool status_has(const StatusSearches *searches, int column)
{
    return (status_columns[column].of & searches->has) != 0;
}

// With a model of the fitness a generation takes several rounds, or there is none.
static const char *status_name(const StatusSearches *searches, int column)
{
    const bool rounds = searches->columns.model != NULL && strcmp(status_columns[column].name, "generations") == 0;
    return rounds ? "rounds" : status_columns[column].name;
}

static const void *status_member(const SearchProgress *progress, int column)
{
    return (const char *)progress + status_columns[column].member;
}

static Error status_choose_columns(StatusSearches *searches)
{
    bool spread, cosine, growth;
    TRY(gradients_have(searches->database, &spread, &cosine, &growth));
    const ModelColumns *model = searches->columns.model;
    searches->has = searches->order == SEARCHES_BY_VOLUME ? OF_SEVERAL
                    : searches->columns.gradient > 0      ? OF_GRADIENT
                    : model != NULL && model->key == NULL ? OF_MODEL
                                                          : OF_ONE;
    searches->has += (spread ? OF_SPREAD : 0) + (cosine ? OF_COSINE : 0) + (growth ? OF_GROWTH : 0);
    searches->signs = gradients_by_round(searches->database);
    return error_none();
}

// The next search, with the signs of its last gradient.
static bool status_next(StatusSearches *searches, Cursor *each, SearchProgress *progress)
{
    if (!search_progress_next(each, searches->columns, progress)) return false;
    gradient_of_round(&searches->signs, progress->search, progress->generations, &progress->signs);
    cursor_stop(each, searches->signs.error);
    return true;
}

static Error status_choose(StatusSearches *searches, Arena *arena)
{
    bool fronts = false, maximizes = false;
    TRY(outer_names(searches->database, STATUS_OUTER_MAX, arena, searches->outer, &searches->n_outer));
    TRY(fronts_are_stored(searches->database, &fronts));
    TRY(store_maximizes(searches->database, &maximizes));
    TRY(searches_columns(searches->database, &searches->columns));
    searches->order = fronts                  ? SEARCHES_BY_VOLUME
                      : searches->n_outer > 0 ? SEARCHES_BY_NUMBER
                      : maximizes             ? SEARCHES_BY_GREATEST
                                              : SEARCHES_BY_LEAST;
    return status_choose_columns(searches);
}

// The word of a number of the model; NULL: it is a number.
static const char *status_model_word(const ModelColumns *model, const SearchProgress *progress, int column)
{
    const double index = progress->model[column];
    if (column + 1 < model->count || model->n_words == 0) return NULL;
    return index >= 0.0 && index < model->n_words ? model->words[(int)index] : model->words[0];
}

static int status_models(const StatusSearches *searches)
{
    return searches->columns.model != NULL ? searches->columns.model->count : 0;
}

static void status_row_of_search(StatusSearches *searches, const SearchProgress *progress, Table *table, Arena *arena)
{
    for (int c = 0; c < STATUS_COLUMNS; c++) {
        if (!status_has(searches, c)) continue;
        if (status_columns[c].whole)
            table_integer(table, *(const int64_t *)status_member(progress, c));
        else
            table_number(table, *(const double *)status_member(progress, c));
        for (int i = 0; c == 0 && i < searches->n_outer; i++) {
            const OuterValue value = outer_value(&searches->outer_values, progress->search, searches->outer[i]);
            if (value.word != NULL)
                table_text(table, text_visible(value.word, arena));
            else
                table_exact(table, value.number);
        }
    }
    for (int c = 0; c < status_models(searches); c++) {
        const char *word = status_model_word(searches->columns.model, progress, c);
        if (word != NULL)
            table_text(table, word);
        else
            table_number(table, progress->model[c]);
    }
    table_text(table, text_visible(progress->stop, arena));
}

static Error status_print_searches(StatusSearches *searches, FILE *out, Arena *arena)
{
    const char *names[STATUS_COLUMNS + STATUS_OUTER_MAX + MODEL_COLUMNS_MAX + 1];
    SearchProgress progress;
    int count = 0;
    for (int c = 0; c < STATUS_COLUMNS; c++) {
        if (status_has(searches, c)) names[count++] = status_name(searches, c);
        for (int i = 0; c == 0 && i < searches->n_outer; i++) names[count++] = text_visible(searches->outer[i], arena);
    }
    for (int c = 0; c < status_models(searches); c++) names[count++] = searches->columns.model->fields[c].name;
    names[count++] = "last end";
    Cursor each = searches_progress(searches->database, searches->order, STATUS_SEARCHES_SHOWN);
    if (each.error.kind != OK) return cursor_close(&each);
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, count, names);
    while (status_next(searches, &each, &progress)) {
        status_row_of_search(searches, &progress, table, arena);
        cursor_stop(&each, searches->outer_values.error);
    }
    cursor_stop(&each, table_finish(table));
    return cursor_close(&each);
}

static void status_json_search(StatusSearches *searches, const SearchProgress *progress, Json *json)
{
    json_object(json, NULL);
    for (int c = 0; c < STATUS_COLUMNS; c++) {
        if (status_has(searches, c) && status_columns[c].whole)
            json_integer(json, status_name(searches, c), *(const int64_t *)status_member(progress, c));
        else if (status_has(searches, c))
            json_number(json, status_name(searches, c), *(const double *)status_member(progress, c));
    }
    for (int c = 0; c < status_models(searches); c++) {
        const char *name = searches->columns.model->fields[c].name;
        const char *word = status_model_word(searches->columns.model, progress, c);
        if (word != NULL)
            json_text(json, name, word);
        else
            json_number(json, name, progress->model[c]);
    }
    json_text(json, "stop", progress->stop);
    if (searches->n_outer > 0) json_object(json, "outer");
    for (int i = 0; i < searches->n_outer; i++) {
        const OuterValue value = outer_value(&searches->outer_values, progress->search, searches->outer[i]);
        if (value.word != NULL)
            json_text(json, searches->outer[i], value.word);
        else
            json_number(json, searches->outer[i], value.number);
    }
    if (searches->n_outer > 0) json_close(json, '}');
    json_close(json, '}');
}

static Error status_json_searches(StatusSearches *searches, Json *json)
{
    SearchProgress progress;
    Cursor each = searches_progress(searches->database, searches->order, -1);
    if (each.error.kind != OK) return cursor_close(&each);
    json_array(json, "searches");
    while (status_next(searches, &each, &progress)) {
        status_json_search(searches, &progress, json);
        cursor_stop(&each, searches->outer_values.error);
    }
    json_close(json, ']');
    return cursor_close(&each);
}

static Error status_put_searches(StatusSearches *searches, FILE *out, Json *json, Arena *arena)
{
    TRY(status_choose(searches, arena));
    if (searches->n_outer > 0) searches->outer_values = outer_values(searches->database);
    const Error error =
        json != NULL ? status_json_searches(searches, json) : status_print_searches(searches, out, arena);
    (void)cursor_close(&searches->outer_values); // their errors were passed on
    (void)cursor_close(&searches->signs);
    return error;
}

// Prints the searches if the method has rounds; with json, as a member of the open object.
static Error status_searches(const CampaignLocation *location, FILE *out, Json *json, Arena *arena)
{
    StatusSearches searches = {.n_outer = 0};
    bool rounds = false;
    TRY(store_peek(location, arena, &searches.database));
    Error error = searches_have_rounds(searches.database, &rounds);
    if (error.kind == OK && rounds) error = status_put_searches(&searches, out, json, arena);
    store_leave(searches.database);
    return error;
}

// ---- sums over all trials, where only some keep a row ---------------------------------------------------------------

static const double status_parts[] = {0.05, 0.25, 0.5, 0.75, 0.95};
enum { STATUS_PARTS = sizeof status_parts / sizeof *status_parts };

// "1,234: the best 1,000, every 500th, the first 1,000 that failed (record.rows)"
static Error status_print_kept(Database *database, FILE *out)
{
    KeptChoice choice;
    int64_t trials = 0, rows = 0;
    TRY(kept_choice(database, &choice));
    TRY(kept_count(database, &trials, &rows));
    fprintf(out, "\n%-11s %s: the best %s, ", "rows", text_count(rows).text, text_count(choice.best).text);
    if (choice.every > 0) fprintf(out, "ids that are multiples of %s, ", text_count(choice.every).text);
    fprintf(out, "the first %s that failed (record.rows)\n%-11s ", text_count(choice.failures).text, "failed");
    TRY(campaign_failures(database, out));
    fputc('\n', out);
    return error_none();
}

// A quantile lies in a bin of the histogram, at most 1.6 % wide: its bounds, or both in one if they are equal.
static const char *status_quantile(const ColumnSum *sum, double part, Arena *arena)
{
    double low, high;
    column_quantile(sum, part, &low, &high);
    if (isnan(low)) return "";
    return low == high ? arena_format(arena, "%.4g", low) : arena_format(arena, "%.4g..%.4g", low, high);
}

static Error status_print_columns(Database *database, FILE *out, Arena *arena)
{
    static const char *const names[] = {"all trials", "values", "missing", "least",    "5 %", "25 %",
                                        "50 %",       "75 %",   "95 %",    "greatest", "mean"};
    ColumnSum sum;
    Cursor columns = sums_of_columns(database);
    if (columns.error.kind != OK) return cursor_close(&columns);
    Table *table = table_start(out, TABLE_TEXT, (int)(sizeof names / sizeof *names), names);
    while (column_sum_next(&columns, &sum)) {
        table_text(table, text_visible(sum.name, arena));
        table_integer(table, sum.values);
        table_integer(table, sum.missing);
        table_number(table, sum.least);
        for (int i = 0; i < STATUS_PARTS; i++) table_text(table, status_quantile(&sum, status_parts[i], arena));
        table_number(table, sum.greatest);
        table_number(table, sum.values > 0 ? sum.sum / (double)sum.values : (double)NAN);
    }
    cursor_stop(&columns, table_finish(table));
    return cursor_close(&columns);
}

static Error status_json_kept(Database *database, Json *json)
{
    KeptChoice choice;
    int64_t trials = 0, rows = 0;
    TRY(kept_choice(database, &choice));
    TRY(kept_count(database, &trials, &rows));
    json_object(json, "rows");
    json_integer(json, "kept", rows);
    json_integer(json, "best", choice.best);
    json_integer(json, "every", choice.every);
    json_integer(json, "failures", choice.failures);
    json_close(json, '}');
    json_object(json, "failed");
    Cursor failures = sums_of_failures(database);
    while (cursor_next(&failures)) json_integer(json, cell_text(&failures, 0), cell_integer(&failures, 1));
    json_close(json, '}');
    return cursor_close(&failures);
}

static void status_json_column(const ColumnSum *sum, Json *json)
{
    json_object(json, NULL);
    json_text(json, "name", sum->name);
    json_integer(json, "values", sum->values);
    json_integer(json, "missing", sum->missing);
    json_number(json, "least", sum->least);
    json_number(json, "greatest", sum->greatest);
    json_number(json, "sum", sum->sum);
    json_array(json, "quantiles");
    for (int i = 0; i < STATUS_PARTS; i++) {
        double low, high;
        column_quantile(sum, status_parts[i], &low, &high);
        json_object(json, NULL);
        json_number(json, "part", status_parts[i]);
        json_number(json, "low", low);
        json_number(json, "high", high);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static Error status_json_columns(Database *database, Json *json)
{
    ColumnSum sum;
    Cursor columns = sums_of_columns(database);
    if (columns.error.kind != OK) return cursor_close(&columns);
    json_array(json, "columns");
    while (column_sum_next(&columns, &sum)) status_json_column(&sum, json);
    json_close(json, ']');
    return cursor_close(&columns);
}

static Error status_put_sums(Database *database, FILE *out, Json *json, Arena *arena)
{
    if (json != NULL) {
        TRY(status_json_kept(database, json));
        return status_json_columns(database, json);
    }
    TRY(status_print_kept(database, out));
    fputc('\n', out);
    return status_print_columns(database, out, arena);
}

// Prints nothing where all trials keep a row; with json, members of the open object.
static Error status_sums(const CampaignLocation *location, FILE *out, Json *json, Arena *arena)
{
    Database *database;
    TRY(store_peek(location, arena, &database));
    const Error error = kept_partly(database) ? status_put_sums(database, out, json, arena) : error_none();
    store_leave(database);
    return error;
}

// ---- printing -------------------------------------------------------------------------------------------------------

static bool status_can_resume(const StatusReport *report)
{
    return report->holder[0] == '\0' && strcmp(report->state, "done") != 0;
}

// "1,234 of 11,660 trials, 10.6 %" ("of at most", "so far"), and during a run the rate and the time left.
static void status_print_progress(const StatusReport *report, FILE *out)
{
    fprintf(out, "\n%-11s %s", "trials", text_count(report->trials).text);
    if (report->total > 0 || report->most > 0)
        fprintf(out, " of %s%s", report->total > 0 ? "" : "at most ",
                text_count(report->total > 0 ? report->total : report->most).text);
    else
        fputs(" so far; the total is unknown", out);
    if (report->replicates_least > 0)
        fprintf(out, ", %" PRId64 " to %" PRId64 " replicates each (a race)", report->replicates_least,
                report->replicates);
    else if (report->replicates > 1)
        fprintf(out, ", %" PRId64 " replicates each", report->replicates);
    if (report->total > 0 && report->trials < report->total)
        fprintf(out, " (%.3g %%)", 100.0 * (double)report->trials / (double)report->total);
    fputc('\n', out);
    if (report->holder[0] == '\0' || isnan(report->rate)) return;
    fprintf(out, "%-11s %s trials/s", "rate", text_short(report->rate).text);
    if (report->total > report->trials && report->rate > 0)
        fprintf(out, ", %s left", text_duration((double)(report->total - report->trials) / report->rate).text);
    if (report->most > report->trials && report->rate > 0)
        fprintf(out, ", at most %s left", text_duration((double)(report->most - report->trials) / report->rate).text);
    fputc('\n', out);
}

static bool status_by_hand(const StatusReport *report)
{
    const Model *model = model_find(report->model);
    return model != NULL && model->by_hand;
}

// Where the time of the batches went.
static void status_print_work(const StatusReport *report, FILE *out)
{
    fprintf(out, "%-11s %s batch%s, %s replicates, %s in the kernels; %s\n", "work", text_count(report->batches).text,
            report->batches == 1 ? "" : "es", text_count(report->lanes).text,
            text_duration(report->timings.kernel).text, report->devices);
    fprintf(out, "%-11s ", "time");
    timings_print(&report->timings, out);
}

static void status_print(const StatusReport *report, FILE *out, Arena *arena)
{
    fprintf(out, "%-11s %s%s%s", "state", report->state, report->reason[0] != '\0' ? ": " : "", report->reason);
    if (report->holder[0] != '\0') fprintf(out, " (%s)", report->holder);
    status_print_progress(report, out);
    fprintf(out, "%-11s %s trials\n", "failures", text_count(report->failures).text);
    if (report->objectives > 0)
        fprintf(out, "%-11s %" PRId64 " objectives; the Pareto front: %s best %s%s\n", "best", report->objectives,
                command_program(arena), report->location.name, command_results_option(report->location.results, arena));
    else if (isnan(report->best))
        fprintf(out, "%-11s none yet\n", "best");
    else
        fprintf(out, "%-11s %s (trial %" PRId64 ")\n", "best", text_number(report->best).text, report->best_trial);
    fprintf(out, "%-11s %s, seed %" PRId64 ", spec %.12s\n", "model", report->model, report->seed, report->hash);
    if (report->overrides[0] != '\0') fprintf(out, "%-11s %s\n", "set", report->overrides);
    fprintf(out, "%-11s %s", "started", report->started);
    if (report->resumed[0] != '\0') fprintf(out, ", resumed %s", report->resumed);
    if (report->committed[0] != '\0') fprintf(out, ", last commit %s", report->committed);
    if (report->finished[0] != '\0') fprintf(out, ", finished %s", report->finished);
    fputc('\n', out);
    if (!status_by_hand(report)) status_print_work(report, out);
    fprintf(out, "%-11s hopscotch %s, numerics version %" PRId64 "\n", "written by", report->program,
            report->numerics_version);
    if (report->origin[0] != '\0') fprintf(out, "%-11s %s\n", "origin", report->origin);
    if (report->tags[0] != '\0') fprintf(out, "%-11s %s\n", "tags", report->tags);
    if (report->note[0] != '\0') fprintf(out, "%-11s %s\n", "note", report->note);
    fprintf(out, "%-11s %s (%s shard%s, %s)\n", "files", text_visible(report->location.folder, arena),
            text_count(report->shards).text, report->shards == 1 ? "" : "s", text_bytes(report->shard_bytes).text);
}

// Whether the search has ended, and its best trials have not run under fresh seeds. A spec that this program reads
// otherwise says nothing of that.
static bool status_recommendation_left(const StatusReport *report, Arena *arena)
{
    StoredCampaign campaign;
    bool left = false;
    if (report->holder[0] != '\0' ||
        campaign_open(report->location.results, report->location.name, arena, &campaign).kind != OK)
        return false;
    const Error error = recommendation_left(&campaign, arena, &left);
    campaign_close(&campaign);
    return error.kind == OK && left;
}

// A campaign that lacks parts is not resumed. left: its recommendation.
static void status_print_next(const StatusReport *report, const Gathered *gathered, bool left, FILE *out, Arena *arena)
{
    if (left) fprintf(out, "%-11s the best trials have not all run under fresh seeds (recommend)\n", "left");
    const char *command = gathered->count < gathered->of ? "gather" : status_by_hand(report) ? "ask" : "resume";
    const bool resumes = strcmp(command, "resume") == 0;
    if (status_can_resume(report) || left)
        fprintf(out, "%-11s %s %s %s%s%s\n", "continue", command_program(arena), command, report->location.name,
                resumes ? command_allow(model_find(report->model)) : "",
                command_results_option(report->location.results, arena));
}

// Members of an object.
static void status_json(const StatusReport *report, Json *json)
{
    json_text(json, "campaign", report->location.name);
    json_text(json, "folder", report->location.folder);
    json_text(json, "state", report->state);
    json_text(json, "reason", report->reason[0] != '\0' ? report->reason : NULL);
    json_text(json, "holder", report->holder[0] != '\0' ? report->holder : NULL);
    json_text(json, "model", report->model);
    json_integer(json, "trials", report->trials);
    json_number(json, "trials_total", report->total > 0 ? (double)report->total : (double)NAN); // null: unknown
    json_number(json, "trials_most", report->most > 0 ? (double)report->most : (double)NAN);
    json_integer(json, "failures", report->failures);
    json_number(json, "best", report->best);
    if (report->objectives > 0) json_integer(json, "objectives", report->objectives);
    if (!isnan(report->best)) json_integer(json, "best_trial", report->best_trial);
    json_number(json, "trials_per_second", report->rate);
    json_text(json, "origin", report->origin[0] != '\0' ? report->origin : NULL);
    json_text(json, "tags", report->tags[0] != '\0' ? report->tags : NULL);
    json_text(json, "set", report->overrides[0] != '\0' ? report->overrides : NULL);
    json_text(json, "started", report->started);
    json_text(json, "resumed", report->resumed[0] != '\0' ? report->resumed : NULL);
    json_text(json, "last_commit", report->committed[0] != '\0' ? report->committed : NULL);
    json_text(json, "finished", report->finished != NULL && report->finished[0] != '\0' ? report->finished : NULL);
    json_number(json, "kernel_seconds", report->timings.kernel);
    timings_json(&report->timings, json);
    json_integer(json, "batches", report->batches);
    json_integer(json, "shards", report->shards);
    json_number(json, "shard_bytes", report->shard_bytes);
}

// ---- parts of a campaign --------------------------------------------------------------------------------------------

// Those of a campaign NAME under the results root; none of another name.
static Error status_find_parts(const CommandLine *line, Parts *parts)
{
    const char *name = line->arguments[0];
    *parts = (Parts){.count = 0};
    return campaign_name_check(name).kind == OK ? parts_find(line->results, name, line->arena, parts) : error_none();
}

// "parts 5 of 16 joined, 9 done, 2 running, 0 missing" and a table of them, unless all are joined.
static Error status_print_parts(const Parts *parts, const Gathered *gathered, FILE *out, Arena *arena)
{
    int done = 0, running = 0, missing = 0;
    for (int i = 0; i < parts->count; i++) {
        done += part_is_done(&parts->part[i]);
        running += strcmp(parts->part[i].state, "running") == 0;
        missing += !parts->part[i].there;
    }
    const int count = parts->count > 0 ? parts->count : gathered->of;
    if (count == 0) return error_none();
    fprintf(out, "%-11s %d of %d are joined", "parts", gathered->count, count);
    if (gathered->count == count || parts->count == 0) {
        fputc('\n', out);
        return error_none();
    }
    fprintf(out, ", %d done, %d running, %d missing\n\n", done, running, missing);
    return parts_print(parts, gathered, out, arena);
}

// No part is joined yet: there is no campaign, only its parts.
static Error status_of_parts(const CommandLine *line, const Parts *parts)
{
    const Gathered gathered = {.count = 0};
    Json json;
    if (switch_given(line, "watch"))
        return error_make(ERROR_USER, "no part of %.100s is joined yet, and --watch shows one campaign: `%s`",
                          line->arguments[0],
                          command_again(line->results, "status %.100s" PARTS_SUFFIX "/%s --watch", line->arguments[0],
                                        parts->part[0].location.name)
                              .text);
    if (!switch_given(line, "json")) return status_print_parts(parts, &gathered, line->out, line->arena);
    json_start(&json, line->out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", line->arguments[0]);
    parts_json(parts, &gathered, &json);
    json_close(&json, '}');
    return error_none();
}

static Error status_gathered(const CampaignLocation *location, Arena *arena, Gathered *gathered)
{
    Database *database;
    TRY(store_peek(location, arena, &database));
    const Error error = gathered_read(database, gathered);
    store_leave(database);
    return error;
}

// Of a campaign by hand: which results are missing.
static Error status_awaited(const CampaignLocation *location, FILE *out, Json *json, Arena *arena)
{
    Database *database;
    Awaited awaited;
    TRY(store_peek(location, arena, &database));
    const Error error = awaited_read(database, &awaited);
    store_leave(database);
    if (error.kind != OK || awaited.asked == 0) return error;
    if (json != NULL) json_integer(json, "asked", awaited.asked);
    if (json != NULL) json_integer(json, "awaited", awaited.open);
    if (json == NULL && awaited.open > 0)
        fprintf(out, "%-11s results of %s, which were asked for\n", "awaited", awaited_text(&awaited, arena));
    return error;
}

static Error status_one(const CommandLine *line)
{
    CampaignLocation location;
    StatusReport report;
    Parts parts;
    Gathered gathered;
    TRY(status_find_parts(line, &parts));
    const char *path = arena_format(line->arena, "%s/%s/" CAMPAIGN_DATABASE, line->results, line->arguments[0]);
    if (parts.count > 0 && file_missing(path)) return status_of_parts(line, &parts);
    TRY(campaign_find(line, line->arguments[0], &location));
    if (switch_given(line, "watch")) return live_watch(line, &location);
    TRY(status_read(&location, line->arena, &report));
    TRY(status_gathered(&location, line->arena, &gathered));
    if (report.origin[0] != '\0') TRY(origin_read(&location, line->arena, &report.origin));
    if (!switch_given(line, "json")) {
        const StatusReport visible = status_visible(&report, line->arena);
        status_print(&visible, line->out, line->arena);
        TRY(status_awaited(&location, line->out, NULL, line->arena));
        const bool left = status_recommendation_left(&report, line->arena);
        status_print_next(&report, &gathered, left, line->out, line->arena);
        TRY(status_print_parts(&parts, &gathered, line->out, line->arena));
        TRY(status_sums(&location, line->out, NULL, line->arena));
        return status_searches(&location, line->out, NULL, line->arena);
    }
    Json json;
    json_start(&json, line->out, true);
    json_object(&json, NULL);
    status_json(&report, &json);
    if (parts.count > 0) parts_json(&parts, &gathered, &json);
    Error error = status_awaited(&location, line->out, &json, line->arena);
    if (error.kind == OK) error = status_sums(&location, line->out, &json, line->arena);
    if (error.kind == OK) error = status_searches(&location, line->out, &json, line->arena);
    json_close(&json, '}');
    return error;
}

static Error status_run(const CommandLine *line)
{
    if (switch_given(line, "watch") && switch_given(line, "json"))
        return error_make(ERROR_USAGE, "--watch is for people; programs can use run --progress json");
    if (switch_given(line, "watch") && line->n_arguments == 0)
        return error_make(ERROR_USAGE, "--watch needs the name of a campaign: %s",
                          command_again(line->results, "status CAMPAIGN --watch").text);
    return line->n_arguments == 0 ? list_campaigns(line) : status_one(line);
}

static const Switch status_rows[] = {
    {"watch", SWITCH_FLAG, NULL, 0, 0,
     "show the campaign repeatedly until it ends; Ctrl-C leaves, and the campaign goes on"},
    {"every", SWITCH_INTEGER, "SECONDS", 0, 3600,
     "least time between two views of --watch (default 1; 0: as often as reading allows)"},
};
static const Switches status_switches = {status_rows, sizeof status_rows / sizeof *status_rows};

const Command command_status = {
    .name = "status",
    .arguments = "[CAMPAIGN]",
    .doc = "print a campaign: state, trials, failures, best; without a name, the campaigns that `list` prints",
    .examples = "  hopscotch status\n"
                "  hopscotch status raibert_gains --watch\n"
                "  hopscotch status --results /data/sweeps --json\n",
    .least = 0,
    .most = 1,
    .switches = {&status_switches, &switches_json},
    .run = status_run,
};
