// Progress of a run: one redrawn line on a terminal, a plain line every few seconds elsewhere, or one JSON object per
// line for programs. It never blocks and decides nothing; a run gives the same bits without it.
#include "progress.h"

#include "clock.h"
#include "json.h"
#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_LINE_MAX = 512, PROGRESS_BAR_MAX = 30, PROGRESS_BAR_MIN = 6 };

static const double progress_memory = 20; // s over which rates are smoothed

// Sums with exponential fading. A rate is a quotient of two of them and needs no start value: early in a run it is the
// mean over all samples so far.
typedef struct ProgressRates {
    double seconds, trials, ticks, simulated;
} ProgressRates;

struct Progress {
    FILE *out;
    ProgressStyle style;
    char campaign[136];
    double started, printed, seen; // clock_seconds; printed 0: nothing yet
    ProgressNumbers last;          // at `seen`
    ProgressRates rates;
    double phase_started; // clock_seconds
    bool drawn;           // a bar stands on the terminal's last line
};

// The numbers as texts, which are then joined at several widths.
typedef struct ProgressTexts {
    char done[96], percent[8], rate[40], simulated[40], best[80], failures[40], left[256];
    double fraction; // NaN: unknown
} ProgressTexts;

Progress *progress_start(FILE *out, ProgressStyle style, const char *campaign)
{
    Progress *progress = calloc(1, sizeof *progress);
    if (progress == NULL) return NULL; // the other functions take NULL as PROGRESS_NONE
    progress->out = out;
    progress->style = style;
    if (style == PROGRESS_AUTO) progress->style = terminal_interactive(out) ? PROGRESS_BAR : PROGRESS_PLAIN;
    snprintf(progress->campaign, sizeof progress->campaign, "%s", campaign);
    progress->started = progress->seen = clock_seconds();
    if (progress->style == PROGRESS_PLAIN) progress->printed = progress->started; // the first line after 5 s
    progress->last.best = (double)NAN;
    return progress;
}

// ---- rates ----------------------------------------------------------------------------------------------------------

static void progress_learn(Progress *progress, const ProgressNumbers *now, double clock)
{
    const ProgressNumbers *last = &progress->last;
    if (now->phase_total > 0 && (!(last->phase_total > 0) || now->phase_done < last->phase_done)) {
        progress->phase_started = progress->seen; // the phase began after the last call
    }
    const double seconds = clock - progress->seen, fade = exp(-seconds / progress_memory);
    const bool first = progress->rates.seconds <= 0; // work before this run says nothing about its rate
    const int64_t trials_before = first ? now->trials_before : last->trials_done;
    const double ticks_before = !first ? last->ticks_done : now->trials_before > 0 ? now->ticks_done : 0;
    ProgressRates *rates = &progress->rates;
    rates->seconds = rates->seconds * fade + seconds;
    rates->trials = rates->trials * fade + (double)(now->trials_done - trials_before);
    rates->ticks = rates->ticks * fade + (now->ticks_done - ticks_before);
    rates->simulated = rates->simulated * fade + (now->simulated_seconds - last->simulated_seconds);
    progress->last = *now;
    progress->seen = clock;
}

// Trials in all, or an upper bound; 0: neither is known.
static int64_t progress_trials(const ProgressNumbers *now)
{
    return now->trials_total > 0 ? now->trials_total : now->trials_most;
}

static bool progress_in_phase(const ProgressNumbers *now) { return now->phase_total > 0; }

// Fraction done of the current phase. For trials it comes from ticks if they are known, because these also count the
// batches in flight. It is 1 only when all is committed.
static double progress_fraction(const ProgressNumbers *now)
{
    const double almost = 0.999;
    const bool by_ticks = now->ticks_total > 0, in_phase = progress_in_phase(now);
    const double trials = (double)progress_trials(now);
    const double done = in_phase ? now->phase_done : by_ticks ? now->ticks_done : (double)now->trials_done;
    const double total = in_phase ? now->phase_total : by_ticks ? now->ticks_total : trials;
    if (!(total > 0)) return (double)NAN;
    if (!in_phase && by_ticks && (double)now->trials_done < trials && !(done < almost * total)) return almost;
    return done < 0 ? 0 : done > total ? 1 : done / total;
}

// Trials per second; NaN: nothing has advanced since the run began. From ticks if they are known, because trials are
// committed a batch at a time.
static double progress_trial_rate(const Progress *progress)
{
    const ProgressNumbers *now = &progress->last;
    const ProgressRates *rates = &progress->rates;
    if (!(rates->seconds > 0)) return (double)NAN;
    const int64_t trials = progress_trials(now);
    const bool by_ticks = now->ticks_total > 0 && trials > 0;
    const double advanced = by_ticks ? rates->ticks / now->ticks_total * (double)trials : rates->trials;
    return advanced > 0 ? advanced / rates->seconds : (double)NAN;
}

// s; NaN if nothing is done yet or the total is unknown
static double progress_phase_left(const Progress *progress)
{
    const ProgressNumbers *now = &progress->last;
    if (!(now->phase_done > 0)) return (double)NAN;
    return fmax(now->phase_total / now->phase_done - 1, 0) * (progress->seen - progress->phase_started);
}

// Time left to compute, and to write the results.
static double progress_seconds_left(const Progress *progress)
{
    const ProgressNumbers *now = &progress->last;
    const bool by_ticks = now->ticks_total > 0;
    const int64_t trials = progress_trials(now);
    const double rest = by_ticks ? now->ticks_total - now->ticks_done : (double)(trials - now->trials_done);
    const double advanced = by_ticks ? progress->rates.ticks : progress->rates.trials;
    const bool known = by_ticks || trials > 0;
    if (progress_in_phase(now)) return progress_phase_left(progress);
    return known && advanced > 0 ? fmax(rest, 0) * progress->rates.seconds / advanced + now->writing_seconds
                                 : (double)NAN;
}

// ---- a terminal's line ----------------------------------------------------------------------------------------------

// "3 min 20 s" -> "3min20s"
static Text32 progress_squeeze(Text32 duration)
{
    Text32 text = {""};
    size_t used = 0;
    for (const char *from = duration.text; *from != '\0'; from++) {
        if (*from != ' ') text.text[used++] = *from;
    }
    return text;
}

// "420/1,000", "420 of at most 1,000", "420 trials"
static void progress_text_done(const ProgressNumbers *now, bool narrow, char *text, size_t size)
{
    const int64_t trials = progress_trials(now);
    const Text32 done = narrow ? text_short((double)now->trials_done) : text_count(now->trials_done);
    const Text32 total = narrow ? text_short((double)trials) : text_count(trials);
    if (now->trials_total > 0)
        snprintf(text, size, "%s/%s", done.text, total.text);
    else if (trials > 0)
        snprintf(text, size, narrow ? "%s/<=%s" : "%s of at most %s", done.text, total.text);
    else
        snprintf(text, size, "%s trials", done.text);
}

static void progress_text_left(const Progress *progress, bool narrow, char *text, size_t size)
{
    const ProgressNumbers *now = &progress->last;
    const double left = progress_seconds_left(progress);
    const Text32 duration = narrow ? progress_squeeze(text_duration(left)) : text_duration(left);
    const bool bound = now->trials_total <= 0;
    const bool running = now->doing == NULL || strcmp(now->doing, "running") == 0;
    if (progress_in_phase(now))
        snprintf(text, size, "%.30s %s of %s %.30s%s%s%s", now->doing, text_count((int64_t)now->phase_done).text,
                 text_count((int64_t)now->phase_total).text, now->phase_unit, isnan(left) ? "" : ", ",
                 isnan(left) ? "" : duration.text, isnan(left) ? "" : " left");
    else if (!running)
        snprintf(text, size, "%.30s", now->doing);
    else if (!isnan(left))
        snprintf(text, size, "%s%s left", !bound ? "" : narrow ? "<=" : "at most ", duration.text);
}

static void progress_texts(const Progress *progress, bool narrow, ProgressTexts *texts)
{
    const ProgressNumbers *now = &progress->last;
    const ProgressRates *rates = &progress->rates;
    memset(texts, 0, sizeof *texts);
    texts->fraction = progress_fraction(now);
    progress_text_done(now, narrow, texts->done, sizeof texts->done);
    if (!isnan(texts->fraction)) // 99 % is not all
        snprintf(texts->percent, sizeof texts->percent, "%3.0f%%", floor(100 * texts->fraction + 1e-9));
    const double seconds = rates->seconds > 0 ? rates->seconds : (double)NAN;
    const double rate = progress_trial_rate(progress);
    if (!progress_in_phase(now) && !isnan(rate))
        snprintf(texts->rate, sizeof texts->rate, "%s/s", text_short(rate).text);
    if (rates->simulated > 0 && !progress_in_phase(now))
        snprintf(texts->simulated, sizeof texts->simulated,
                 narrow          ? "x%s"
                 : now->iterates ? "%s iterations/s"
                                 : "%s sim s/s",
                 text_short(rates->simulated / seconds).text);
    if (isnan(now->best))
        snprintf(texts->best, sizeof texts->best, "no best yet");
    else
        snprintf(texts->best, sizeof texts->best, "best %.5g #%" PRId64, now->best, now->best_trial);
    snprintf(texts->failures, sizeof texts->failures, "%s failed", text_short((double)now->failures).text);
    progress_text_left(progress, narrow, texts->left, sizeof texts->left);
}

// One layout of the line; each has its own width.
typedef struct ProgressForm {
    bool narrow, percent, simulated;
    int bar; // least width of the bar with its brackets and a blank; 0: none
} ProgressForm;

static const ProgressForm progress_forms[] = {
    {false, true, true, 14}, {true, false, true, PROGRESS_BAR_MIN + 3}, {true, true, true, 0}, {true, true, false, 0}};

static size_t progress_join(const ProgressTexts *texts, const ProgressForm *form, char *line, size_t size)
{
    const char *const pieces[] = {form->percent ? texts->percent : "",
                                  texts->done,
                                  texts->rate,
                                  form->simulated ? texts->simulated : "",
                                  texts->failures,
                                  texts->best,
                                  texts->left};
    size_t used = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && used < size; i++) {
        if (pieces[i][0] == '\0') continue;
        used += (size_t)snprintf(line + used, size - used, "%s%s",
                                 used == 0      ? ""
                                 : form->narrow ? " "
                                                : "  ",
                                 pieces[i]);
    }
    return used;
}

// "[=====>    ] " in `room` characters; nothing if the bar would be too short.
static void progress_bar(double fraction, int room, char *bar, size_t size)
{
    int inside = room - 3; // brackets and a blank
    if (inside > PROGRESS_BAR_MAX) inside = PROGRESS_BAR_MAX;
    bar[0] = '\0';
    if (inside < PROGRESS_BAR_MIN || (size_t)inside + 4 > size) return;
    const int filled = isnan(fraction) ? 0 : (int)(fraction * inside);
    memset(bar, ' ', (size_t)inside + 3);
    memset(bar + 1, '=', (size_t)filled);
    if (filled < inside) bar[1 + filled] = '>';
    bar[0] = '[';
    bar[inside + 1] = ']';
    bar[inside + 3] = '\0';
}

// The widest layout that fits; the last one is cut to fit.
static void progress_line(const Progress *progress, int columns, char *line, size_t size)
{
    ProgressTexts texts;
    char text[PROGRESS_LINE_MAX], bar[PROGRESS_BAR_MAX + 4];
    const int room = columns - 1, count = (int)(sizeof progress_forms / sizeof *progress_forms);
    int length = 0, form = 0; // room: a character in the last column would wrap on some terminals
    for (; form < count; form++) {
        progress_texts(progress, progress_forms[form].narrow, &texts);
        length = (int)progress_join(&texts, &progress_forms[form], text, sizeof text);
        if (length + progress_forms[form].bar <= room) break;
    }
    const bool with_bar = form < count && progress_forms[form].bar > 0;
    progress_bar(texts.fraction, with_bar ? room - length : 0, bar, sizeof bar);
    snprintf(line, size, "%s%.*s", bar, room > 0 ? room : 0, text);
}

static void progress_draw(Progress *progress)
{
    char line[PROGRESS_LINE_MAX];
    progress_line(progress, terminal_columns(progress->out), line, sizeof line);
    fprintf(progress->out, "\r%s\033[K", line);
    fflush(progress->out);
    progress->drawn = true;
}

static void progress_erase(Progress *progress)
{
    if (progress->drawn) fputs("\r\033[K", progress->out);
    progress->drawn = false;
}

// ---- a plain line, a JSON line --------------------------------------------------------------------------------------

static void progress_plain(const Progress *progress, FILE *out)
{
    ProgressTexts texts;
    char line[PROGRESS_LINE_MAX];
    progress_texts(progress, false, &texts);
    progress_join(&texts, &progress_forms[0], line, sizeof line);
    fprintf(out, "%s: %s\n", progress->campaign, line + strspn(line, " "));
    fflush(out);
}

static void progress_json(Progress *progress, const char *event)
{
    const ProgressNumbers *now = &progress->last;
    const ProgressRates *rates = &progress->rates;
    Json json;
    json_start(&json, progress->out, false);
    json_object(&json, NULL);
    json_text(&json, "event", event);
    json_text(&json, "time", clock_utc().text);
    json_text(&json, "campaign", progress->campaign);
    json_text(&json, "doing", now->doing);
    json_integer(&json, "trials_done", now->trials_done);
    json_integer(&json, "trials_total", now->trials_total);
    if (now->trials_total <= 0 && now->trials_most > 0) json_integer(&json, "trials_most", now->trials_most);
    if (progress_in_phase(now)) json_number(&json, "phase_done", now->phase_done);
    if (progress_in_phase(now)) json_number(&json, "phase_total", now->phase_total);
    json_integer(&json, "trials_before", now->trials_before);
    json_number(&json, "fraction", progress_fraction(now));
    json_number(&json, "trials_per_second", progress_trial_rate(progress));
    json_number(&json, "simulated_seconds_per_second", rates->simulated / rates->seconds);
    json_integer(&json, "failures", now->failures);
    json_number(&json, "best", now->best);
    if (!isnan(now->best)) json_integer(&json, "best_trial", now->best_trial);
    json_number(&json, "elapsed", progress->seen - progress->started);
    json_number(&json, "seconds_left", progress_seconds_left(progress));
    json_close(&json, '}');
    fputc('\n', progress->out);
    fflush(progress->out);
}

// ---- the calls ---------------------------------------------------------------------------------------------------

void progress_show(Progress *progress, const ProgressNumbers *numbers)
{
    if (progress == NULL || progress->style == PROGRESS_NONE) return;
    static const double intervals[] = {[PROGRESS_BAR] = 0.1, [PROGRESS_PLAIN] = 5, [PROGRESS_JSON] = 1}; // s
    const double clock = clock_seconds();
    const bool begins = progress->style != PROGRESS_PLAIN && progress_in_phase(numbers) &&
                        !progress_in_phase(&progress->last); // show the start of a phase even if it is short
    if (!begins && progress->printed > 0 && clock - progress->printed < intervals[progress->style]) return;
    progress_learn(progress, numbers, clock);
    progress->printed = clock;
    if (progress->style == PROGRESS_BAR) progress_draw(progress);
    if (progress->style == PROGRESS_PLAIN) progress_plain(progress, progress->out);
    if (progress->style == PROGRESS_JSON) progress_json(progress, "progress");
}

void progress_note(Progress *progress, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (progress == NULL || progress->style == PROGRESS_NONE) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const bool drawn = progress->drawn;
    progress_erase(progress);
    if (progress->style == PROGRESS_JSON) {
        Json json;
        json_start(&json, progress->out, false);
        json_object(&json, NULL);
        json_text(&json, "event", "note");
        json_text(&json, "time", clock_utc().text);
        json_text(&json, "campaign", progress->campaign);
        json_text(&json, "text", text);
        json_close(&json, '}');
        fputc('\n', progress->out);
    } else {
        fprintf(progress->out, "%s\n", text);
    }
    if (drawn) progress_draw(progress);
    fflush(progress->out);
}

void progress_answer(Progress *progress, const ProgressNumbers *numbers, FILE *out)
{
    if (progress == NULL) return;
    const bool drawn = progress->drawn;
    progress_learn(progress, numbers, clock_seconds());
    progress_erase(progress);
    fflush(progress->out);
    progress_plain(progress, out);
    if (drawn) progress_draw(progress);
}

// The last line stays on the terminal: trials of this run, and its mean rate.
void progress_finish(Progress *progress, const ProgressNumbers *numbers)
{
    if (progress == NULL) return;
    const double clock = clock_seconds(), seconds = fmax(clock - progress->started, 1e-6);
    progress_learn(progress, numbers, clock);
    progress_erase(progress);
    if (progress->style == PROGRESS_JSON) {
        progress_json(progress, "finish");
    } else if (progress->style != PROGRESS_NONE) {
        const int64_t trials = numbers->trials_done - numbers->trials_before;
        fprintf(progress->out, "%s: %s trial%s in %s, %s trials/s", progress->campaign, text_count(trials).text,
                trials == 1 ? "" : "s", text_duration(seconds).text, text_short((double)trials / seconds).text);
        if (numbers->simulated_seconds > 0)
            fprintf(progress->out, numbers->iterates ? ", %s iterations/s" : ", %s simulated s/s",
                    text_short(numbers->simulated_seconds / seconds).text);
        if (numbers->trials_before > 0) fprintf(progress->out, "; %s before", text_count(numbers->trials_before).text);
        fprintf(progress->out, "; %s failed", text_count(numbers->failures).text);
        if (!isnan(numbers->best))
            fprintf(progress->out, ", best %.6g (trial %" PRId64 ")", numbers->best, numbers->best_trial);
        fputc('\n', progress->out);
        fflush(progress->out);
    }
    free(progress);
}
