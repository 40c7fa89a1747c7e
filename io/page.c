// HTML pages in one file. The style and the scripts are files in io/page/; the assembler embeds them in the program
// unchanged, and every page contains them. The page's content security policy lets no other script run: even markup in
// a name or a note that escaping missed could not run one.
#include "page.h"

#include "base64.h"
#include "sha256.h"
#include "svg.h"

#include <string.h>

// The compiler runs in the root of the repository.
#define PAGE_EMBED(name, path)                                                                                         \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global page_" #name "\npage_" #name ": .incbin \"" path "\"\n"                                           \
            ".global page_" #name "_end\npage_" #name "_end: .byte 0\n"                                                \
            ".popsection\n");                                                                                          \
    extern const unsigned char page_##name[], page_##name##_end[]

PAGE_EMBED(style, "io/page/page.css");
PAGE_EMBED(script, "io/page/page.js");
PAGE_EMBED(scene, "io/page/scene.js");
PAGE_EMBED(animation, "io/page/animation.js");
PAGE_EMBED(alignment, "io/page/alignment.js");
PAGE_EMBED(condition, "io/page/condition.js");
PAGE_EMBED(field, "io/page/field.js");
PAGE_EMBED(raster, "io/page/raster.js");
PAGE_EMBED(trials, "io/page/trials.js");
PAGE_EMBED(scales, "io/page/scales.js");
PAGE_EMBED(colours, "io/page/colours.js");
PAGE_EMBED(selection, "io/page/selection.js");
PAGE_EMBED(panel, "io/page/panel.js");
PAGE_EMBED(plots, "io/page/plots.js");
PAGE_EMBED(parallel, "io/page/parallel.js");
PAGE_EMBED(two_columns, "io/page/two_columns.js");
PAGE_EMBED(explore, "io/page/explore.js");
PAGE_EMBED(save, "io/page/save.js");
PAGE_EMBED(overview, "io/page/overview.js");

Bytes page_file(PageFile file)
{
#define PAGE_ENDS(name)                                                                                                \
    {                                                                                                                  \
        page_##name, page_##name##_end                                                                                 \
    }
    static const unsigned char *const ends[PAGE_FILES][2] = {
        PAGE_ENDS(style),       PAGE_ENDS(script),    PAGE_ENDS(scene),  PAGE_ENDS(animation), PAGE_ENDS(alignment),
        PAGE_ENDS(condition),   PAGE_ENDS(field),     PAGE_ENDS(raster), PAGE_ENDS(trials),    PAGE_ENDS(scales),
        PAGE_ENDS(colours),     PAGE_ENDS(selection), PAGE_ENDS(panel),  PAGE_ENDS(plots),     PAGE_ENDS(parallel),
        PAGE_ENDS(two_columns), PAGE_ENDS(explore),   PAGE_ENDS(save),   PAGE_ENDS(overview)};
    return (Bytes){(unsigned char *)(uintptr_t)ends[file][0], (size_t)(ends[file][1] - ends[file][0])};
}

static void page_put_file(FILE *out, PageFile file)
{
    const Bytes bytes = page_file(file);
    fwrite(bytes.data, 1, bytes.size, out);
}

// The SHA-256 of a script in base64, from its hexadecimal digits.
static void page_put_hash(FILE *out, const char *hex)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[32];
    char text[BASE64_SIZE(sizeof bytes)];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] =
            (unsigned char)((strchr(digits, hex[2 * i]) - digits) * 16 + (strchr(digits, hex[2 * i + 1]) - digits));
    base64_put(bytes, sizeof bytes, text);
    fputs(text, out);
}

static void page_put_policy(FILE *out)
{
    fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:; script-src",
          out);
    for (PageFile file = PAGE_SCRIPT; file < PAGE_FILES; file++) {
        const Bytes bytes = page_file(file);
        fputs(" 'sha256-", out);
        page_put_hash(out, sha256_of(bytes.data, bytes.size).hex);
        fputc('\'', out);
    }
    fputs("\">\n", out);
}

void page_start(FILE *out, const char *title, const char *style)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    page_put_policy(out);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    put_markup(out, title);
    fputs("</title>\n<style>\n", out);
    page_put_file(out, PAGE_STYLE);
    fputs(style != NULL ? style : "", out);
    fputs("</style>\n</head>\n<body>\n", out);
}

// In JSON `<` occurs only within texts, where its escape may stand for it.
void page_put_json(FILE *out, const char *id, const char *json)
{
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (; *json != '\0'; json++) {
        if (*json == '<')
            fputs("\\u003c", out);
        else
            fputc(*json, out);
    }
    fputs("</script>\n", out);
}

void page_finish(FILE *out)
{
    for (PageFile file = PAGE_SCRIPT; file < PAGE_FILES; file++) {
        fputs("<script>", out);
        page_put_file(out, file);
        fputs("</script>\n", out);
    }
    fputs("</body>\n</html>\n", out);
}
