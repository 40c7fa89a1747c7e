// Figures for papers: the sizes that the user asks for, and files that are not SVG.
#include "command.h"

#include <stdlib.h>
#include <string.h>

// ---- lengths --------------------------------------------------------------------------------------------------------

typedef struct LengthUnit {
    const char *name;
    double mm;
} LengthUnit;
static const LengthUnit figure_units[] = {
    {"mm", 1}, {"cm", 10}, {"in", 25.4}, {"pt", 25.4 / 72}, {"px", 25.4 / 96}, // a point of PostScript, a pixel of CSS
};

// *mm <- a length with its unit, 85mm, from `least` to `most` mm.
static Error figure_length(const CommandLine *line, const char *option, const char *example, double least, double most,
                           double *mm)
{
    const char *text = switch_text(line, option, NULL);
    char *end;
    *mm = 0;
    if (text == NULL) return error_none();
    const double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof figure_units / sizeof *figure_units; i++) {
        if (strcmp(end, figure_units[i].name) == 0) *mm = value * figure_units[i].mm;
    }
    if (*mm >= least && *mm <= most) return error_none();
    return error_make(ERROR_USAGE,
                      "--%s takes a length from %.0f to %.0f mm in mm, cm, in, pt or px, e.g. %s, not '%.60s'", option,
                      least, most, example, text_visible(text, line->arena));
}

Error command_figure(const CommandLine *line, const char *path, Figure *room, const Figure **figure)
{
    double font = 0;
    *room = (Figure){0};
    *figure = NULL;
    TRY(figure_length(line, "width", "85mm", 20, 2000, &room->width));
    TRY(figure_length(line, "height", "60mm", 10, 2000, &room->height));
    TRY(figure_length(line, "font", "8pt", 1, 20, &font));
    room->font = font * 72 / 25.4;
    const bool sized = switch_given(line, "width") || switch_given(line, "height") || switch_given(line, "font");
    if (sized || picture_format(path) != PICTURE_SVG) *figure = room;
    return error_none();
}

// ---- output ---------------------------------------------------------------------------------------------------------

Error command_picture_finish(const CommandLine *line, CommandOutput *output, int dpi, Error error)
{
    const PictureFormat format = picture_format(output->path);
    if (format == PICTURE_SVG || error.kind != OK) return command_output_finish(line, output, error);
    char *data = NULL;
    size_t bytes = 0;
    CommandOutput converted;
    error = text_stream_close(&output->stream);
    if (error.kind == OK)
        error = picture_convert(output->stream.text, output->stream.size, format, dpi, line->arena, &data, &bytes);
    free(output->stream.text);
    if (error.kind == OK) error = command_output_start(output->path, &converted);
    if (error.kind == OK) {
        fwrite(data, 1, bytes, converted.stream.out);
        error = command_output_finish(line, &converted, error);
    }
    free(data);
    return error;
}

static const Switch figure_switch_rows[] = {
    {"width", SWITCH_TEXT, "LENGTH", 0, 0, "a figure for a paper of this width, e.g. 85mm: without a title"},
    {"height", SWITCH_TEXT, "LENGTH", 0, 0, "and of this height (default: what the plot needs)"},
    {"font", SWITCH_TEXT, "LENGTH", 0, 0, "size of the text of a figure (default 8.25pt); lines follow it"},
    {"dpi", SWITCH_INTEGER, "N", PICTURE_DPI_LEAST, PICTURE_DPI_MOST, "pixels per inch of a PNG (default 300)"},
};
const Switches switches_figure = {figure_switch_rows, 4};
