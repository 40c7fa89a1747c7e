// The report: a page of sections, each from what the campaign's database holds. The plots are those of `plot`; the
// motion is the best trial's, simulated again, which also proves that its number can be had again.
#include "report.h"

#include "report_tables.h"
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- colours --------------------------------------------------------------------------------------------------------

// The plots follow the page: light, or dark if the system or the reader wants it, and light on paper.
Error report_style(Arena *arena, const char **style)
{
    TextStream rules;
    TRY(text_stream_open("the colours of a page", &rules));
    plot_style(rules.out, "", false);
    fputs("@media screen{\n", rules.out);
    plot_style(rules.out, ":root[data-theme=dark]", true);
    fputs("}\n@media screen and (prefers-color-scheme:dark){\n", rules.out);
    plot_style(rules.out, ":root:not([data-theme=light])", true);
    fputs("}\n", rules.out);
    const Error error = text_stream_close(&rules);
    *style = error.kind == OK ? arena_copy(arena, rules.text) : "";
    free(rules.text);
    return error;
}

// ---- sections -------------------------------------------------------------------------------------------------------

typedef struct Report {
    const StoredCampaign *campaign;
    const PlotData *data;
    const BackendOptions *backend;
    FILE *out;
    Arena *arena;
} Report;

typedef struct ReportSection {
    const char *id, *link, *title;
    Error (*write)(const Report *report, const struct ReportSection *section);
} ReportSection;

static Error report_best(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_best_table(report->campaign, report->out, report->arena);
}

static Error report_plot(const Report *report, const ReportSection *section)
{
    const PlotKind *kind = plot_kind_find(section->id);
    const char *nothing = kind->nothing(report->data, report->arena);
    Plot plot = {.out = report->out, .page = true};
    if (nothing != NULL) {
        fputs("<p class=\"none\">Nothing to show: ", report->out);
        put_markup(report->out, nothing);
        fputs(".</p>\n", report->out);
        return error_none();
    }
    fputs("<p class=\"caption\">", report->out);
    put_markup(report->out, kind->caption);
    fputs("</p>\n<div class=\"panels\">\n", report->out);
    TRY(kind->draw(report->data, &plot, report->arena));
    fputs("</div>\n", report->out);
    return error_none();
}

static void report_put_motion_words(const Report *report, const ReplayResult *result, const ReplayTrace *trace)
{
    fprintf(report->out,
            "<p class=\"caption\">Trial %" PRId64 ", replicate %d, simulated again by this program: ", result->trial,
            trace->request.replicate);
    if (result->equal) {
        fputs("every number is the stored one, to the bit.", report->out);
    } else {
        fputs("<strong>it differs from what is stored: ", report->out);
        put_markup(report->out, result->difference);
        fputs("</strong>.", report->out);
    }
    fputs(" Shaded in the curves: on the ground.</p>\n", report->out);
}

static Error report_draw_motion(const Report *report, const ReplayTrace *trace)
{
    Plot plot = {.out = report->out, .page = true};
    if (trace_drawing(trace) != NULL) TRY(trace_put_motions(&trace, 1, report->out));
    fputs("<div class=\"panels\">\n", report->out);
    trace_plot_phases(trace, &plot);
    trace_plot_series(trace, &plot);
    fputs("</div>\n", report->out);
    return error_none();
}

// Of a model in time: the first seconds of the best trial.
static Error report_motion(const Report *report, const ReportSection *section)
{
    const Configured *configured = &report->campaign->spec.configured;
    const double tick = configured->tick_duration, duration = tick * (double)configured->ticks;
    ReplayRequest request = {.window = {0, 12}};
    ReplayResult result;
    ReplayTrace trace;
    (void)section;
    if (!(tick > 0) || report->data->n_best == 0) {
        fprintf(report->out, "<p class=\"none\">Nothing to show: %s.</p>\n",
                tick > 0 ? "no trial has a fitness" : "the model has no time");
        return error_none();
    }
    request.trial = report->data->best_id[0];
    request.sample = tick * fmax(1, floor(fmax(0.005, duration / 20000) / tick + 0.5));
    const Error error = campaign_trace(report->campaign, &request, report->backend, report->arena, &result, &trace);
    if (error.kind == ERROR_INTERRUPTED) return error;
    if (error.kind != OK) { // a report without a motion is a report
        fputs("<p class=\"none\">Not simulated again: ", report->out);
        put_markup(report->out, error.text);
        fputs(".</p>\n", report->out);
        return error_none();
    }
    report_put_motion_words(report, &result, &trace);
    return report_draw_motion(report, &trace);
}

static Error report_spec(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_spec_texts(report->campaign, report->out, report->arena);
}

static Error report_provenance(const Report *report, const ReportSection *section)
{
    (void)section;
    return report_provenance_tables(report->campaign, report->out, report->arena);
}

static const ReportSection report_sections[] = {
    {"best", "Best", "Best trials", report_best},
    {"motion", "Motion", "The best motion", report_motion},
    {"convergence", "Convergence", "Convergence", report_plot},
    {"scatter", "Gains", "Fitness against each gain", report_plot},
    {"importance", "Importance", "Importance", report_plot},
    {"pairs", "Pairs", "Pairs of gains", report_plot},
    {"parallel", "Parallel", "Parallel coordinates", report_plot},
    {"pareto", "Trade-offs", "Trade-offs", report_plot},
    {"failures", "Failures", "Failures", report_plot},
    {"timings", "Batches", "Batches", report_plot},
    {"spec", "Spec", "Spec", report_spec},
    {"provenance", "Origin", "Where it comes from", report_provenance},
};
enum { REPORT_SECTIONS = sizeof report_sections / sizeof *report_sections };

// ---- the page -------------------------------------------------------------------------------------------------------

static void report_navigation(FILE *out)
{
    fputs("<nav aria-label=\"Sections\"><ul>", out);
    for (int s = 0; s < REPORT_SECTIONS; s++)
        fprintf(out, "<li><a href=\"#%s\">%s</a></li>", report_sections[s].id, report_sections[s].link);
    fputs("</ul></nav>\n", out);
}

static Error report_body(const Report *report)
{
    TRY(report_head(report->campaign, report->data, report->out, report->arena));
    report_navigation(report->out);
    fputs("<main>\n", report->out);
    for (int s = 0; s < REPORT_SECTIONS; s++) {
        const ReportSection *section = &report_sections[s];
        fprintf(report->out, "<section id=\"%s\">\n<h2>%s</h2>\n", section->id, section->title);
        TRY(section->write(report, section));
        fputs("</section>\n", report->out);
    }
    fputs("</main>\n", report->out);
    return error_none();
}

Error report_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                   Arena *arena)
{
    const Report report = {.campaign = campaign, .data = data, .backend = backend, .out = out, .arena = arena};
    const char *style;
    TRY(report_style(arena, &style));
    page_start(out, campaign->name, style);
    TRY(report_body(&report));
    page_finish(out);
    return error_none();
}
