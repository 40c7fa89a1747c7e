// io: everything outside the process, and no physics. This header is the floor's door: other floors include only it.
#ifndef HOPSCOTCH_IO_H
#define HOPSCOTCH_IO_H

// files
#include "bounded_log.h"
#include "cache.h"
#include "coded_table.h"
#include "column_deflate.h"
#include "file.h"
#include "folder.h"
#include "lock.h"
#include "output.h"
#include "text_stream.h"

// digests
#include "row_digest.h"
#include "sha256.h"

// databases (SQLite), and tables that lie in memory or in shards
#include "block_table.h"
#include "database.h"
#include "database_extension.h"
#include "database_table.h"
#include "number_column.h"
#include "order.h"

// arrays (HDF5, NumPy), and tables of columns (Parquet)
#include "array_file.h"
#include "mcap.h"
#include "npz.h"
#include "parquet.h"
#include "recorded.h"
#include "shard.h"
#include "shard_columns.h"

// texts that people write: trees with places, and errors at these places
#include "decimal.h"
#include "diagnostics.h"
#include "xml.h"
#include "yaml.h"

// texts, tables and pictures that people read
#include "base64.h"
#include "canvas.h"
#include "characters.h"
#include "json.h"
#include "page.h"
#include "picture.h"
#include "svg.h"
#include "table.h"
#include "terminal.h"
#include "text.h"
#include "words.h"

// what models read from files
#include "cloud.h"
#include "robot/robot.h"

// the run and its machine
#include "clock.h"
#include "processors.h"
#include "progress.h"

#endif
