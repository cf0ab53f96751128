//! Pictures and tables of a profile.
