// What a fit says, in words.
#include "../view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FIT_NAMED = 4 }; // columns that a line names

typedef struct FitSays {
    const Spec *spec;
    const FitData *data;
    const FitResult *result;
    FitLine *lines;
    int count;
    Arena *arena;
} FitSays;

static void fit_say(FitSays *says, const char *about, const char *text)
{
    says->lines[says->count++] = (FitLine){about, text};
}

static const char *fit_parameter(const FitSays *says, int i)
{
    return says->spec->configured.parameters[says->data->parameter[i]].name;
}

// The best values are within 0.3 of their errors, each alone.
static bool fit_is_minimum(const FitResult *result) { return !(result->off > 0.3); }

static void fit_say_noise(FitSays *says)
{
    const FitData *data = says->data;
    const FitResult *result = says->result;
    int tested = 0, worst = -1;
    for (int s = 0; s < data->n_series; s++) {
        const FitNoise *noise = &result->noise[s];
        tested += !isnan(noise->p);
        if (noise->coloured && (worst < 0 || noise->neighbours > result->noise[worst].neighbours)) worst = s;
    }
    if (data->noise > 0.0) {
        fit_say(says, "intervals",
                arena_format(
                    says->arena,
                    "are expected ones, of 95 %%: there is no recording yet, and the noise of its residuals is "
                    "to be %s",
                    says->spec->objective.information.noises != NULL ? says->spec->objective.information.noises
                                                                     : arena_format(says->arena, "%.6g", data->noise)));
    } else if (data->count <= result->n_free) {
        fit_say(says, "intervals", "none: there are as many parameters as residuals, so nothing tells their noise");
    } else if (tested == 0) {
        fit_say(says, "noise", "not tested: no residuals follow each other in time");
    } else if (worst < 0 && result->step.lacking) {
        fit_say(says, "noise", "what is left looks white, but it depends on the step");
    } else if (worst < 0 && result->n_lacking > 0) {
        fit_say(says, "noise", "what is left looks white, but it depends on what is not searched");
    } else if (worst < 0) {
        fit_say(says, "noise",
                data->n_fitted > 1 ? "what is left of all series is white: the model is enough for these recordings"
                : tested > 1       ? "what is left of all series is white: the model is enough for this recording"
                                   : "what is left of the residuals is white: the model is enough for this recording");
    } else {
        const FitNoise *noise = &result->noise[worst];
        fit_say(says, "noise",
                arena_format(
                    says->arena,
                    "not white in %d of %d series, most in %s (correlation of neighbours %.2g, rms %.3g, of "
                    "which %.3g is white): %s",
                    result->n_coloured, tested, data->series[worst].name, noise->neighbours, noise->rms, noise->noise,
                    result->step.lacking ? "make the step smaller first"
                    : fit_is_minimum(result) && noise->rms > 3.0 * noise->noise
                        ? "the model lacks something there, the noise is coloured, or this is a local minimum: "
                          "start from other points, too (least_squares: {searches: 8})"
                        : "the model lacks something there, or the noise is coloured"));
        fit_say(
            says, "intervals",
            arena_format(says->arena,
                         "take this correlation into account (autoregressive noise, order %d); those for white noise "
                         "would be too short",
                         result->order));
    }
}

// Whether there is a minimum here at all.
static void fit_say_minimum(FitSays *says)
{
    const FitResult *result = says->result;
    if (fit_is_minimum(result)) return;
    fit_say(says, "minimum",
            arena_format(says->arena,
                         "this trial is none: %s alone is off by %.2g of its errors. Intervals hold at a minimum: name "
                         "the best trial, or let the search go on",
                         fit_parameter(says, result->off_parameter), result->off));
}

// Whether steps are short enough.
static void fit_say_step(FitSays *says)
{
    const FitStep *step = &says->result->step;
    const FitFiner *finer = &step->finer;
    if (!step->lacking && !step->moving) return;
    const char *to = arena_format(says->arena, "%s: %.3g", finer->name, finer->finer);
    if (step->lacking)
        fit_say(
            says, "step",
            arena_format(says->arena,
                         "%s is too large for these residuals: with %s those of %s change by %.2g of their noise, and "
                         "they want %.2g +- %.1g times this change (p %.1g): make it smaller before the model is "
                         "blamed",
                         finer->name, to, says->data->series[step->series].name, step->change, step->wanted,
                         step->error, step->p));
    else
        fit_say(says, "step",
                arena_format(says->arena,
                             "%s may be too large: with %s the best value of %s is off by %.2g of its errors. Its "
                             "interval does not know that: make the step smaller, and fit again",
                             finer->name, to, fit_parameter(says, step->parameter), step->moved));
}

// The parameters that are not searched and should be.
static void fit_say_lacks(FitSays *says)
{
    enum { MOST = 3 };
    const FitResult *result = says->result;
    for (int k = 0; k < result->n_lacking && k < MOST; k++) {
        const FitLack *lack = &result->lacks[k];
        const Parameter *of = &says->spec->configured.parameters[lack->parameter];
        fit_say(says, "lacking",
                arena_format(says->arena,
                             "%s: it is not searched, and the residuals want %.3g +- %.2g%s%s instead of %.6g, which "
                             "takes %.2g %% of their squares (p %.1g)",
                             of->name, lack->value + lack->change, lack->error, of->unit[0] != '\0' ? " " : "",
                             of->unit, lack->value, 100.0 * lack->squares, lack->p));
    }
    // Correlated noise hides what is lacking; so does a change that is too large for its derivative.
    int best = -1;
    for (int k = 0; k < result->n_lacks && result->n_coloured > 0 && result->n_lacking == 0; k++)
        if (result->lacks[k].p < 1.0 && (best < 0 || result->lacks[k].squares > result->lacks[best].squares)) best = k;
    if (best >= 0 && result->lacks[best].squares > 0.05)
        fit_say(says, "lacking",
                arena_format(says->arena,
                             "nothing for certain; of what is not searched %s takes most of their squares, %.2g %%",
                             says->spec->configured.parameters[result->lacks[best].parameter].name,
                             100.0 * result->lacks[best].squares));
    if (result->n_lacking > MOST)
        fit_say(says, "lacking",
                arena_format(says->arena,
                             "%d more of %d parameters that are not searched: search the first, then look "
                             "again",
                             result->n_lacking - MOST, result->n_lacks));
}

// A recording, or columns of it, at another time.
static void fit_say_clock(FitSays *says)
{
    const FitClock *clock = &says->result->clock;
    if (!clock->off) return;
    const char *name = clock->name, *end = strrchr(name, '_');
    const char *what = clock->whole && says->data->n_fitted > 1
                           ? arena_format(says->arena, "the recording %s",
                                          says->data->names[says->data->series[clock->series].recording])
                       : clock->whole ? "the recording"
                       : clock->input ? arena_format(says->arena, "input %s", name)
                                      : arena_format(says->arena, "columns %.*s_*",
                                                     (int)(end != NULL ? end - name : (ptrdiff_t)strlen(name)), name);
    if (clock->mirrored) {
        fit_say(
            says, "unit",
            arena_format(says->arena,
                         "%s: a fit of its other sign leaves %.2g %% of the squares: turn coordinates and rates, by "
                         "`scale: -1`%s",
                         what, 100.0 * clock->left, clock->input ? ", or in the file" : ""));
        return;
    }
    const char *against = !clock->whole  ? "against the other columns"
                          : clock->input ? "against the simulation"
                                         : "against the commands";
    fit_say(says, "time",
            arena_format(says->arena,
                         "%s: %.2g s %s, %s: a fit with that leaves %.2g %% of the squares. Is the time shifted? "
                         "`offset` of %s shifts it%s",
                         what, fabs(clock->late), clock->late > 0.0 ? "late" : "early", against, 100.0 * clock->left,
                         clock->input ? "an input" : "a recording",
                         clock->whole && clock->late > 0.0 && !clock->input ? "; commands that come late are `delay`"
                                                                            : ""));
}

// Recordings that look wrong themselves. The first column of each unit, and how many more there are.
static void fit_say_records(FitSays *says)
{
    const FitResult *result = says->result;
    for (int k = 0; k < result->n_units; k++) {
        const FitUnit *unit = &result->units[k];
        const char *names = unit->name;
        int before = 0, more = 0;
        for (int i = 0; i < k; i++) before += strcmp(result->units[i].means, unit->means) == 0;
        for (int i = k + 1; i < result->n_units && before == 0; i++) {
            if (strcmp(result->units[i].means, unit->means) != 0) continue;
            if (++more < FIT_NAMED) names = arena_format(says->arena, "%s, %s", names, result->units[i].name);
        }
        if (before > 0) continue;
        if (more >= FIT_NAMED) names = arena_format(says->arena, "%s and %d more", names, more - FIT_NAMED + 1);
        fit_say(says, "unit",
                arena_format(says->arena, "%s: recorded is %.3g times what is simulated (correlation %.2f): it %s",
                             names, unit->by, unit->correlation, unit->means));
    }
    fit_say_clock(says);
    if (result->between.name == NULL) return;
    fit_say(says, "between",
            arena_format(says->arena,
                         "%" PRId64 " of %" PRId64 " residuals are between two rows of %s, where noise is smoothed and "
                         "curves are cut: intervals are too short; compare at its rows, by an event with `rows: %s`",
                         result->between.residuals, result->between.count, result->between.name, result->between.name));
}

static void fit_say_bootstrap(FitSays *says)
{
    const FitResult *result = says->result;
    if (result->fits == 0) return;
    fit_say(says, "intervals",
            arena_format(
                says->arena, "of %" PRId64 " fits to residuals that were drawn again in blocks of %" PRId64 " rows%s",
                result->fits, result->block,
                result->failed == 0 ? "" : arena_format(says->arena, "; in %" PRId64 " a run failed", result->failed)));
}

// The series whose mean is off by most.
static void fit_say_shifted(FitSays *says)
{
    const FitResult *result = says->result;
    int worst = -1;
    for (int s = 0; s < says->data->n_series; s++) {
        if (result->noise[s].shifted && (worst < 0 || fabs(result->noise[s].off) > fabs(result->noise[worst].off)))
            worst = s;
    }
    if (worst < 0) return;
    fit_say(
        says, "offset",
        arena_format(says->arena,
                     "the mean is not 0 in %d series, most in %s: %.3g, %.1f standard errors: a sensor with a bias, "
                     "another start or load, or a force that the model lacks",
                     result->n_shifted, says->data->series[worst].name, result->noise[worst].mean,
                     fabs(result->noise[worst].off)));
}

// Series of a recording, and those of which a test says something.
typedef struct RecordingSays {
    double squares;
    int64_t count;
    int series, tested, coloured, shifted;
} RecordingSays;

static RecordingSays fit_recording(const FitSays *says, int recording)
{
    RecordingSays out = {0};
    for (int s = 0; s < says->data->n_series; s++) {
        const FitNoise *noise = &says->result->noise[s];
        const FitSeries *series = &says->data->series[s];
        if (series->recording != recording) continue;
        out.squares += noise->rms * noise->rms * (double)series->count;
        out.count += series->count;
        out.series++;
        out.tested += !isnan(noise->p);
        out.coloured += noise->coloured;
        out.shifted += noise->shifted;
    }
    return out;
}

// Of each of several recordings: how well it is fitted.
static void fit_say_recordings(FitSays *says)
{
    Arena *arena = says->arena;
    for (int k = 0; k < says->data->n_fitted && says->data->n_fitted > 1; k++) {
        const RecordingSays of = fit_recording(says, k);
        const char *white = of.tested == 0     ? ""
                            : of.coloured == 0 ? ", white"
                                               : arena_format(arena, ", %d not white", of.coloured);
        const char *zero = of.shifted == 0 ? "" : arena_format(arena, ", the mean of %d not 0", of.shifted);
        fit_say(says, "recording",
                arena_format(arena, "%s: rms %.4g of %" PRId64 " residuals in %d series%s%s", says->data->names[k],
                             sqrt(of.squares / (double)of.count), of.count, of.series, white, zero));
    }
}

// Of columns that are larger: by which factor.
static bool fit_is_worse(const FitColumn *a, const FitColumn *b)
{
    return a->larger && (!b->larger || a->held / a->fitted > b->held / b->fitted);
}

// Of each recording that was held out.
static void fit_say_held(FitSays *says)
{
    int count = 0;
    const FitColumn *columns = fit_validate(says->data, says->result, says->arena, &count);
    for (int first = 0, end; first < count; first = end) {
        int larger = 0, tested = 0, worst = first;
        const char *name = columns[first].recording;
        for (end = first; end < count && columns[end].recording == name; end++) {
            tested += !isnan(columns[end].p);
            larger += columns[end].larger;
            if (fit_is_worse(&columns[end], &columns[worst])) worst = end;
        }
        const FitColumn *of = &columns[worst];
        if (of->count == 0)
            fit_say(says, "held out", arena_format(says->arena, "%s: the run of the fitted model fails there", name));
        else if (tested == 0)
            fit_say(says, "held out", arena_format(says->arena, "%s: too few residuals to compare", name));
        else if (larger == 0)
            fit_say(says, "held out",
                    arena_format(says->arena, "%s: no column is off by more than where it was fitted", name));
        else
            fit_say(says, "held out",
                    arena_format(says->arena,
                                 "%s: %d of %d columns are off by more than where they were fitted, most %s (rms %.3g, "
                                 "fitted %.3g): the fit has learned its recordings, or the model is wrong there",
                                 name, larger, end - first, of->column, of->held, of->fitted));
    }
}

static void fit_say_correlated(FitSays *says)
{
    static const double strong = 0.9;
    const int n = says->data->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const double of = says->result->correlation[i * n + j];
            if (!(fabs(of) > strong)) continue;
            fit_say(says, "correlated",
                    arena_format(says->arena, "%s and %s: %.3f", fit_parameter(says, j), fit_parameter(says, i), of));
        }
    }
}

const FitLine *fit_lines(const Spec *spec, const FitData *data, const FitResult *result, Arena *arena, int *count)
{
    FitSays says = {.spec = spec, .data = data, .result = result, .arena = arena};
    says.lines =
        ARENA_NEW(arena, FitLine,
                  result->n_unknown + 13 + result->n_units + data->n_fitted + data->n_recordings + data->n * data->n);
    for (int k = 0; k < result->n_unknown; k++) fit_say(&says, "unknown", result->unknown[k]);
    fit_say_recordings(&says);
    fit_say_minimum(&says);
    fit_say_records(&says);
    fit_say_step(&says);
    fit_say_noise(&says);
    fit_say_shifted(&says);
    fit_say_bootstrap(&says);
    fit_say_lacks(&says);
    fit_say_held(&says);
    fit_say_correlated(&says);
    *count = says.count;
    return says.lines;
}

const char *fit_remark(const FitParameter *of)
{
    if (of->end < 0)
        return of->determined ? "at the lower end of its range" : "at the lower end of its range, not determined";
    if (of->end > 0)
        return of->determined ? "at the upper end of its range" : "at the upper end of its range, not determined";
    if (of->open) return "its interval goes on beyond the range";
    return of->determined ? "" : "not determined";
}
