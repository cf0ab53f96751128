//! ELF files: identity, segments and sections, read without mapping them.
