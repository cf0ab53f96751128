//! Addresses of files, the kernel and generated code to functions, files and lines.
