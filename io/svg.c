// Pictures in SVG, from the few elements that plots and drawings need. Colours come from classes, so that one picture
// suits light and dark pages and paper.
#include "svg.h"

#include "characters.h"

#include <math.h>
#include <string.h>

static void svg_put_glyph(FILE *out, const char *text)
{
    static const char special[] = "<>&\"'";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    for (; *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found != NULL)
            fputs(entities[found - special], out);
        else
            fputc(*text, out);
    }
}

void put_markup(FILE *out, const char *text)
{
    for (Glyph glyph; *text != '\0'; text += glyph.bytes) {
        glyph = glyph_read(text);
        if (*text == '\n') // a line break, as in a spec's text
            fputc('\n', out);
        else
            svg_put_glyph(out, glyph.text);
    }
}

void svg_number(FILE *out, double value)
{
    if (!isfinite(value) || fabs(value) < 0.05)
        fputc('0', out);
    else if (fabs(value - nearbyint(value)) < 0.05)
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.1f", value);
}

static void svg_attribute(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    svg_number(out, value);
    fputc('"', out);
}

void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\"", class_name);
    svg_attribute(out, "x1", x1);
    svg_attribute(out, "y1", y1);
    svg_attribute(out, "x2", x2);
    svg_attribute(out, "y2", y2);
    fputs("/>", out);
}

void svg_rectangle(FILE *out, const char *class_name, double x, double y, double width, double height)
{
    fprintf(out, "<rect class=\"%s\"", class_name);
    svg_attribute(out, "x", x);
    svg_attribute(out, "y", y);
    svg_attribute(out, "width", width > 0 ? width : 0);
    svg_attribute(out, "height", height > 0 ? height : 0);
    fputs("/>", out);
}

void svg_text(FILE *out, const char *class_name, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text class=\"%s\" text-anchor=\"%s\"", class_name, anchor);
    svg_attribute(out, "x", x);
    svg_attribute(out, "y", y);
    fputc('>', out);
    put_markup(out, text);
    fputs("</text>", out);
}

SvgPath svg_path(FILE *out, const char *class_name)
{
    fprintf(out, "<path class=\"%s\" d=\"", class_name);
    return (SvgPath){.out = out};
}

void svg_path_to(SvgPath *path, double x, double y)
{
    if (!isfinite(x) || !isfinite(y)) {
        path->down = false;
        return;
    }
    fputc(path->down ? 'L' : 'M', path->out);
    svg_number(path->out, x);
    fputc(' ', path->out);
    svg_number(path->out, y);
    path->down = true;
}

void svg_path_end(const SvgPath *path) { fputs("\"/>", path->out); }
