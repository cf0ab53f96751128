//! Registers and copied stack bytes to addresses.
