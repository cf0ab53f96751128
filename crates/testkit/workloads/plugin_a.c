/*
 * A library whose time is spent in `hot_in_a`, called by `plugin_entry`; see plugin.h.
 */
#define HOT hot_in_a
#include "plugin.h"
