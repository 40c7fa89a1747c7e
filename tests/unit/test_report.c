// The parts of pages and pictures: escaping, numbers, dots, the plots' data.
#include "../../runner/view/plots/plot.h"
#include "../../runner/view/report/trace.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The output of the last function as text.
static char *report_written;
static size_t report_size;

static FILE *report_open(void)
{
    free(report_written);
    report_written = NULL;
    return open_memstream(&report_written, &report_size);
}

static const char *report_close(FILE *out)
{
    fclose(out);
    return report_written;
}

static const char *report_markup(const char *text)
{
    FILE *out = report_open();
    put_markup(out, text);
    return report_close(out);
}

TEST(report_markup_is_only_text)
{
    CHECK_TEXT("a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;", report_markup("a <b> & \"c\" 'd'"));
    CHECK_TEXT("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;",
               report_markup("</script><img src=x onerror=alert(1)>"));
    CHECK_TEXT("&amp;lt;", report_markup("&lt;"));
    CHECK_TEXT("bell \\x07, turn \\u202E, no UTF-8 \\xFF", report_markup("bell \a, turn \xE2\x80\xAE, no UTF-8 \xFF"));
    CHECK_TEXT("two\nlines, \xC3\xA9\xE6\x97\xA5", report_markup("two\nlines, \xC3\xA9\xE6\x97\xA5"));
}

TEST(report_json_cannot_end_its_element)
{
    FILE *out = report_open();
    page_put_json(out, "data", "[\"</script><!--\"]");
    CHECK_TEXT("<script type=\"application/json\" id=\"data\">[\"\\u003c/script>\\u003c!--\"]</script>\n",
               report_close(out));
}

TEST(report_page_contains_its_scripts_and_loads_nothing)
{
    const char *page;
    FILE *out = report_open();
    page_start(out, "<x>", NULL);
    page_finish(out);
    page = report_close(out);
    CHECK(strstr(page, "<title>&lt;x&gt;</title>") != NULL);
    CHECK(strstr(page, "default-src 'none'") != NULL);
    const char *address = strstr(page, "http:"); // only SVG's namespace, which causes no request
    CHECK(address != NULL && strncmp(address, "http://www.w3.org/2000/svg\"", 27) == 0 &&
          !strstr(address + 4, "http:"));
    CHECK(strstr(page, "https:") == NULL);
    for (PageFile file = PAGE_STYLE; file < PAGE_FILES; file++) {
        const Bytes bytes = page_file(file);
        CHECK(bytes.size > 1000 && memmem(page, strlen(page), bytes.data, bytes.size) != NULL);
        CHECK(memmem(bytes.data, bytes.size, "</s", 3) == NULL); // would end the script element
    }
}

TEST(report_coordinates_are_short)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"}, {-0.01, "0"}, {12.04, "12"}, {12.06, "12.1"}, {-3.25, "-3.2"}, {1e9, "1000000000"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *out = report_open();
        svg_number(out, cases[i].value);
        CHECK_TEXT(cases[i].text, report_close(out));
    }
    FILE *out = report_open();
    svg_number(out, (double)NAN);
    svg_number(out, (double)-INFINITY);
    CHECK_TEXT("00", report_close(out));
}

TEST(report_path_lifts_the_pen)
{
    FILE *out = report_open();
    SvgPath path = svg_path(out, "ln");
    svg_path_to(&path, 1, 2);
    svg_path_to(&path, 3, 4);
    svg_path_to(&path, 5, (double)NAN);
    svg_path_to(&path, 7, 8);
    svg_path_end(&path);
    CHECK_TEXT("<path class=\"ln\" d=\"M1 2L3 4M7 8\"/>", report_close(out));
}

// RFC 4648, section 10
TEST(report_base64)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    char text[BASE64_SIZE(6)];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        base64_put((const unsigned char *)cases[i][0], strlen(cases[i][0]), text);
        CHECK_TEXT(cases[i][1], text);
        CHECK(strlen(text) + 1 == BASE64_SIZE(strlen(cases[i][0])));
        unsigned char bytes[6];
        CHECK(base64_get(text, bytes, strlen(cases[i][0])));
        CHECK(memcmp(bytes, cases[i][0], strlen(cases[i][0])) == 0);
        CHECK(!base64_get(text, bytes, strlen(cases[i][0]) + 3));
    }
    static const char *const wrong[] = {"Zg=", "Zh==", "Zg=A", "Z===", "Z!==", "=g=="};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned char byte;
        CHECK(!base64_get(wrong[i], &byte, 1));
    }
    base64_put((const unsigned char *)"\xFB\xFF\xBF", 3, text);
    CHECK_TEXT("+/+/", text);
}

TEST(report_canvas_draws_dots)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 16, "test"));
    Canvas canvas = canvas_take(3, 2, &arena);
    canvas_dot(&canvas, 0, 0);
    canvas_dot(&canvas, 3, 7);
    canvas_dot(&canvas, -1, 0);
    canvas_dot(&canvas, 6, 0);
    canvas_dot(&canvas, 0, 8);
    canvas_dot(&canvas, (double)NAN, 0);
    FILE *out = report_open();
    canvas_put(&canvas, true, out);
    CHECK_TEXT("\xE2\xA0\x81\n \xE2\xA2\x80\n", report_close(out));
    canvas_clear(&canvas);
    canvas_line(&canvas, 0, 0, 5, 0);
    out = report_open();
    canvas_put(&canvas, false, out);
    CHECK_TEXT(":::\n\n", report_close(out));
    canvas_line(&canvas, 0, 0, 1e300, (double)INFINITY); // must return
    arena_destroy(&arena);
}

// ---- the drawing of the hopper --------------------------------------------------------------------------------------

TEST(report_hopper_stands_as_it_should)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 64 << 20, "test"));
    Spec spec;
    Diagnostics *diagnostics = diagnostics_new(&arena);
    CHECK_OK(spec_parse("test", "version: 1\nexperiment: t\nmodel: hopper\nsearch: {method: grid, over: {k_fp: [1]}}\n",
                        NULL, 0, &arena, diagnostics, &spec));
    const Drawing *drawing = spec.configured.drawing;
    CHECK(drawing != NULL && 2 * drawing->n_points <= 64);
    double point[64], sample[14] = {0, 2, 0.1, 0, 0, 0.9};
    drawing->points(&spec.configured, spec.fixed, sample, point);
    CHECK_NEAR(2, point[0], 0); // the foot
    CHECK_NEAR(0.1, point[1], 0);
    CHECK_NEAR(2, point[2 * drawing->focus], 1e-15); // the body's centre: upright, leg 0.9 m and l_2 = 0.4 m above
    CHECK_NEAR(0.1 + 0.9 + 0.4, point[2 * drawing->focus + 1], 1e-15);
    sample[3] = 0.5; // the leg turns clockwise: the hip moves forward
    drawing->points(&spec.configured, spec.fixed, sample, point);
    CHECK_NEAR(2 + 0.9 * sin(0.5), point[2 * drawing->focus], 1e-15);
    CHECK_NEAR(0.1 + 0.9 * cos(0.5) + 0.4, point[2 * drawing->focus + 1], 1e-15);
    CHECK_NEAR(0, drawing->ground(&spec.configured, spec.fixed, 3), 0);
    for (int s = 0; s < drawing->n_shapes; s++) {
        CHECK(drawing->shapes[s].from >= 0 && drawing->shapes[s].from < drawing->n_points);
        CHECK(drawing->shapes[s].to >= 0 && drawing->shapes[s].to < drawing->n_points);
    }
    arena_destroy(&arena);
}

TEST(report_draws_the_terrain_as_ground)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 64 << 20, "test"));
    Spec spec;
    CHECK_OK(spec_parse("test",
                        "version: 1\nexperiment: t\nmodel: hopper\nsimulation: {terrain: slope}\n"
                        "parameters: {terrain_slope: 0.25, terrain_start: 1}\n"
                        "search: {method: grid, over: {k_fp: [1]}}\n",
                        NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_NEAR(0, spec.configured.drawing->ground(&spec.configured, spec.fixed, 0.5), 0);
    CHECK_NEAR(0.5, spec.configured.drawing->ground(&spec.configured, spec.fixed, 3), 1e-15);
    arena_destroy(&arena);
}

// ---- the plots' data ------------------------------------------------------------------------------------------------

static const char report_spec[] =
    "version: 1\nexperiment: plots\nseed: 3\nmodel: bbob\n"
    "simulation: {function: sphere, dimension: 3}\n"
    "search: {method: grid, over: {x1: [-1, 0, 4], x2: {linspace: [-2, 2, 41]}, x3: [0]}}\n";

static Error report_run(const char *results, Arena *arena, StoredCampaign *campaign)
{
    Spec spec;
    RunSummary summary;
    FILE *null = fopen("/dev/null", "w");
    const RunOptions options = {.results = results,
                                .backend = {.name = "cpu", .threads = 1, .isa = "auto"},
                                .progress = PROGRESS_NONE,
                                .out = null,
                                .messages = null};
    TRY(spec_parse("test", report_spec, NULL, 0, arena, diagnostics_new(arena), &spec));
    const Error error = campaign_run(&spec, &options, arena, &summary);
    fclose(null);
    return error.kind == OK ? campaign_open(results, "plots", arena, campaign) : error;
}

TEST(report_data_of_a_grid)
{
    Arena arena;
    StoredCampaign campaign;
    PlotData data;
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "test"));
    CHECK_OK(report_run(test_folder(), &arena, &campaign));
    CHECK_OK(plot_data_read(&campaign, 0, NULL, &arena, &data));
    CHECK_INTEGER(123, data.trials);
    CHECK_INTEGER(123, data.n_sample);
    CHECK_INTEGER(3, data.n_gains);
    CHECK_INTEGER(3, data.gain[0].n_bins); // one bin per value, with its edges between the values
    CHECK_NEAR(-0.5, data.gain[0].edge[1], 0);
    CHECK_NEAR(2, data.gain[0].edge[2], 0);
    CHECK_INTEGER(1, data.gain[2].n_bins);
    CHECK_INTEGER(10, data.gain[1].n_bins); // too many values for one bin each
    for (int b = 0; b < 3; b++) CHECK_INTEGER(41, data.bin[b].count);
    CHECK_NEAR(data.best_fitness[0], data.sorted[0], 0);
    CHECK(isnan(data.correlation[2])); // this axis never varied
    CHECK_INTEGER(2, data.order[2]);   // so it comes last
    CHECK_INTEGER(2, data.n_varied);
    CHECK(plot_varies(&data.gain[1]) && !plot_varies(&data.gain[2]));
    int64_t count = 0;
    double best = (double)INFINITY;
    for (int x = 0; x < 3; x++) {
        for (int y = 0; y < 10; y++) {
            const PlotCell *cell = plot_cell(&data, 1, 0, y, x);
            CHECK(cell == plot_cell(&data, 0, 1, x, y));
            count += cell->count;
            if (cell->best < best) best = cell->best;
        }
    }
    CHECK_INTEGER(123, count);
    CHECK_NEAR(data.best_fitness[0], best, 0);
    campaign_close(&campaign);
    arena_destroy(&arena);
}

// Computes Spearman's correlation from ranks that the test counts itself. On the sphere the fitness falls and rises
// with x1.
TEST(report_correlation_is_spearmans)
{
    Arena arena;
    StoredCampaign campaign;
    PlotData data;
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "test"));
    CHECK_OK(report_run(test_folder(), &arena, &campaign));
    CHECK_OK(plot_data_read(&campaign, 0, NULL, &arena, &data));
    const int64_t n = data.n_sample;
    double *rank_x = ARENA_NEW(&arena, double, n), *rank_f = ARENA_NEW(&arena, double, n);
    for (int64_t i = 0; i < n; i++) { // rank: the mean place of all points with the same value, by counting
        for (int64_t j = 0; j < n; j++) {
            const double xi = data.value[i * 3 + 1], xj = data.value[j * 3 + 1];
            rank_x[i] += xj < xi ? 1 : xj == xi ? 0.5 : 0;
            rank_f[i] += data.fitness[j] < data.fitness[i] ? 1 : data.fitness[j] == data.fitness[i] ? 0.5 : 0;
        }
    }
    double mean_x = 0, mean_f = 0, xf = 0, xx = 0, ff = 0;
    for (int64_t i = 0; i < n; i++) mean_x += rank_x[i] / (double)n, mean_f += rank_f[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        xf += (rank_x[i] - mean_x) * (rank_f[i] - mean_f);
        xx += (rank_x[i] - mean_x) * (rank_x[i] - mean_x);
        ff += (rank_f[i] - mean_f) * (rank_f[i] - mean_f);
    }
    CHECK_NEAR(xf / sqrt(xx * ff), data.correlation[1], 1e-12);
    campaign_close(&campaign);
    arena_destroy(&arena);
}

TEST(report_axis_marks_round_numbers)
{
    const PlotAxis axis = {.low = 50, .high = 300, .from = 0, .to = 250};
    const PlotAxis log_axis = {.low = 1, .high = 1e4, .from = 100, .to = 0, .log = true};
    CHECK_NEAR(100, plot_at(&axis, 150), 1e-12);
    CHECK_NEAR(50, plot_at(&log_axis, 100), 1e-12);
    double tick[PLOT_TICKS_MAX];
    const PlotAxis bad[] = {
        {.low = 1, .high = 1, .to = 100},           {.low = 2, .high = 1, .to = 100},
        {.low = -1e308, .high = 1e308, .to = 100},  {.low = 0, .high = 1, .to = 100, .log = true},
        {.low = (double)NAN, .high = 1, .to = 100}, {.low = 0, .high = (double)INFINITY, .to = 100}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_INTEGER(0, plot_ticks(&bad[i], 50, tick));
    CHECK_INTEGER(6, plot_ticks(&axis, 50, tick));
    CHECK_NEAR(50, tick[0], 0);
    CHECK_NEAR(300, tick[5], 0);
    CHECK_INTEGER(5, plot_ticks(&log_axis, 20, tick));
    CHECK_NEAR(100, tick[2], 1e-12);
    CHECK_TEXT("1e6", plot_short(1e6).text);
    CHECK_TEXT("1e-5", plot_short(1e-5).text);
    CHECK_TEXT("50000", plot_short(5e4).text);
    CHECK_TEXT("0.3333", plot_short(1.0 / 3).text);
    CHECK_TEXT("0", plot_short(-0.0).text);
}

// ---- labels of axes -------------------------------------------------------------------------------------------------

// The drawn panel of these two axes.
static const char *report_panel(PlotAxis x, PlotAxis y)
{
    FILE *out = report_open();
    Plot plot = {.out = out, .page = true};
    PlotPanel panel = plot_panel(&plot, 288, 190, NULL, x, y);
    plot_panel_end(&panel);
    return report_close(out);
}

static int report_count(const char *text, const char *part)
{
    int count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part)) count++;
    return count;
}

// A narrow axis far from zero: no two ticks have the same label.
TEST(report_axis_labels_differ)
{
    const PlotAxis time = {.name = "time", .unit = "s", .low = 0, .high = 3};
    const PlotAxis narrow = {.name = "w", .unit = "rad/s", .low = 4.89967, .high = 4.90002};
    const char *panel = report_panel(time, narrow);
    CHECK_INTEGER(1, report_count(panel, ">4.8997<"));
    CHECK_INTEGER(1, report_count(panel, ">4.8999<"));
    CHECK_INTEGER(1, report_count(panel, ">4.9<"));
    CHECK_INTEGER(1, report_count(panel, ">w (rad/s)<"));
}

// Labels that would need many digits are differences from a base, which the axis name states.
TEST(report_axis_has_a_base)
{
    const PlotAxis time = {.name = "time", .unit = "s", .low = 0, .high = 3};
    const PlotAxis narrow = {.name = "qw", .unit = "1", .low = 1 - 3.8e-8, .high = 1 + 0.2e-8};
    const char *panel = report_panel(time, narrow);
    CHECK_INTEGER(1, report_count(panel, ">qw - 1<"));
    CHECK_INTEGER(1, report_count(panel, ">-2e-8<"));
    CHECK_INTEGER(2, report_count(panel, ">0<")); // one per axis
    const PlotAxis below = {.name = "x", .unit = "m", .low = -5 - 1e-9, .high = -5 + 1e-9};
    panel = report_panel(below, time);
    CHECK_INTEGER(1, report_count(panel, ">x + 5 (m)<"));
}

// An axis with long labels has fewer ticks.
TEST(report_axis_labels_have_room)
{
    static const double highs[] = {11500, 115000, 0.00115, 1.15, 1.15e9};
    for (size_t k = 0; k < sizeof highs / sizeof *highs; k++) {
        const PlotAxis x = {.name = "k", .unit = "N/m", .low = 85 * highs[k] / 115, .high = highs[k]};
        const char *at = report_panel(x, (PlotAxis){.name = "f", .low = 0, .high = 1});
        double before = (double)-INFINITY;
        int labels = 0;
        while ((at = strstr(at, "text-anchor=\"middle\"")) != NULL) {
            const double middle = strtod(strstr(at, "x=\"") + 3, NULL);
            const char *text = strchr(at, '>') + 1;
            const double half = plot_text_width("0") / 2 * (double)(strchr(text, '<') - text);
            at = text;
            if (strncmp(text, "k (", 3) == 0) continue; // the axis' name
            CHECK(middle - half > before);
            CHECK(middle + half <= 288);
            before = middle + half;
            labels++;
        }
        CHECK(labels >= 2);
    }
}

// ---- columns that never change --------------------------------------------------------------------------------------

TEST(report_constants_are_found)
{
    static const Field columns[] = {{.name = "time", .unit = "s"}, {.name = "x", .unit = "m"},
                                    {.name = "y", .unit = "m"},    {.name = "z", .unit = "m"},
                                    {.name = "w", .unit = "rad"},  {.name = "gap", .unit = "m"},
                                    {.name = "none", .unit = "m"}, {.name = "some", .unit = "m"}};
    double row[3][8] = {{0, 1, 2e-16, 5, 1e-14, 0, (double)NAN, (double)NAN},
                        {1, 2, -3e-16, 5, 2e-14, 1e-9, (double)NAN, 1},
                        {2, 3, 0, 5, 3e-14, 0, (double)NAN, 1}};
    ReplayTrace trace = {.columns = columns, .n_columns = 8, .row = &row[0][0], .count = 3};
    Arena arena;
    int count;
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    const TraceConstant *constant = trace_constants(&trace, &arena, &count);
    static const bool expected[] = {false, false, true, true, false, false, true, false};
    for (int c = 0; c < 8; c++) CHECK_INTEGER(expected[c], constant[c].is);
    CHECK_INTEGER(3, count);
    FILE *out = report_open();
    trace_put_constants(&trace, out, &arena);
    CHECK_TEXT("<p class=\"none\">These columns never change: y = 0 m, z = 5 m, none (no value).</p>\n",
               report_close(out));
    trace.request.debug = true; // of debug rows, a change of rounding size counts
    constant = trace_constants(&trace, &arena, &count);
    CHECK(!constant[2].is && constant[3].is);
    arena_destroy(&arena);
}
