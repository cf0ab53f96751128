//! Symbolised formats to and from a profile, one file each.
