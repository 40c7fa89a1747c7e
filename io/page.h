// HTML pages in one file, which can be read without a network.
#ifndef HOPSCOTCH_IO_PAGE_H
#define HOPSCOTCH_IO_PAGE_H

#include "file.h"

#include <stdio.h>

// Style and scripts of a page: files of io/page/, which are part of the program.
typedef enum PageFile {
    PAGE_STYLE,
    PAGE_SCRIPT,
    PAGE_SCENE,
    PAGE_ANIMATION,
    PAGE_ALIGNMENT,
    PAGE_CONDITION,
    PAGE_FIELD,
    PAGE_RASTER,
    PAGE_TRIALS,
    PAGE_SCALES,
    PAGE_COLOURS,
    PAGE_SELECTION,
    PAGE_PANEL,
    PAGE_PLOTS,
    PAGE_PARALLEL,
    PAGE_TWO_COLUMNS,
    PAGE_EXPLORE,
    PAGE_SAVE,
    PAGE_OVERVIEW,
    PAGE_FILES
} PageFile;
Bytes page_file(PageFile file); // read-only
// Print the page up to <body>, and from </body> on. The page's security policy allows only its own scripts. style:
// rules to add, or NULL.
void page_start(FILE *out, const char *title, const char *style);
void page_finish(FILE *out);
// Prints JSON for the scripts as an element with this id. `json` is escaped so that it can't end the element.
void page_put_json(FILE *out, const char *id, const char *json);

#endif
