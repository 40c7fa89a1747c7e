// HTML pages in one file, which need no network.
#ifndef HOPSCOTCH_IO_PAGE_H
#define HOPSCOTCH_IO_PAGE_H

#include "file.h"

#include <stdio.h>

// An HTML page in one file, which needs no network. Its style and scripts are files of io/page/.
typedef enum PageFile { PAGE_STYLE, PAGE_SCRIPT, PAGE_SCENE, PAGE_ANIMATION, PAGE_ALIGNMENT, PAGE_FILES } PageFile;
Bytes page_file(PageFile file); // read-only
// The page up to <body>, and from </body> on. The page's security policy lets only its own scripts run. `style`: more
// rules, or NULL.
void page_start(FILE *out, const char *title, const char *style);
void page_finish(FILE *out);
// JSON for the scripts, in an element with this id; the text cannot end the element.
void page_put_json(FILE *out, const char *id, const char *json);

// Base64 (RFC 4648) of bytes, with its end: text[BASE64_SIZE(size)].
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
void base64_put(const unsigned char *bytes, size_t size, char *text);

#endif
