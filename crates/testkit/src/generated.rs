//! A program with more than 10 MB of debug information: thousands of distinct functions in many
//! files, each with types, variables and inlined calls of its own. Its source is made here.

use crate::build::{Variant, run_compiler};
use crate::cache;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source files.
const UNITS: usize = 24;
/// Functions in each.
const FUNCTIONS: usize = 125;
/// Inlined functions for each of them.
const INLINED: usize = 6;

/// The name of function `function` of file `unit`, as the program has it.
pub fn function_name(unit: usize, function: usize) -> String {
    format!("work_{unit:02}_{function:03}")
}

/// Builds the program unless that was done before; returns its path. Called with a number of
/// seconds it spends them in its 3,000 functions (`work_00_000` to `work_23_124`) in random order,
/// each below 15 frames, and prints `truth functions=N calls=N end_ns=N`: how many functions there
/// are, how many calls it made, and the monotonic clock when all was done.
///
/// # Panics
/// If it does not compile.
pub fn large_program() -> PathBuf {
    let sources: Vec<(String, String)> = (0..UNITS)
        .map(|unit| (format!("unit_{unit:02}.c"), unit_source(unit)))
        .chain([("large.c".into(), main_source())])
        .collect();
    let mut flags = Variant::default().gcc_flags();
    // Takes gcc two thirds of the time that -O2 takes; the last one given counts.
    flags.push("-O1");
    let place = cache::entry(&(&sources, &flags), |into| {
        std::thread::scope(|scope| {
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            for share in sources.chunks(sources.len().div_ceil(cpus)) {
                let flags = &flags;
                scope.spawn(move || share.iter().for_each(|(name, text)| compile(into, name, text, flags)));
            }
        });
        let mut link = Command::new("gcc");
        link.args(&flags).args(sources.iter().map(|(name, _)| into.join(name).with_extension("o")));
        link.arg("-o").arg(into.join("large"));
        run_compiler(link);
        for (name, _) in &sources {
            fs::remove_file(into.join(name).with_extension("o")).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    });
    place.join("large")
}

fn compile(folder: &Path, name: &str, text: &str, flags: &[&str]) {
    let source = folder.join(name);
    fs::write(&source, text).unwrap_or_else(|error| panic!("writing `{}`: {error}", source.display()));
    let mut command = Command::new("gcc");
    command.args(flags).arg("-std=gnu11").arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads"));
    // The folder gets another name once all is done.
    command.arg(format!("-fdebug-prefix-map={}=generated", folder.display()));
    command.arg("-c").arg(&source).arg("-o").arg(source.with_extension("o"));
    run_compiler(command);
}

fn unit_source(unit: usize) -> String {
    let mut text = String::from("#include <stdint.h>\n\n");
    for function in 0..FUNCTIONS {
        function_source(&mut text, unit, function);
    }
    text
}

/// A record type, its inlined helpers, and the function that the program calls.
fn function_source(text: &mut String, unit: usize, function: usize) {
    let name = function_name(unit, function);
    let fields = 32 + function % 17;
    let _ = writeln!(text, "struct record_{name} {{");
    for field in 0..fields {
        let _ = writeln!(text, "    uint64_t field_{field}_of_{name};");
    }
    let _ = writeln!(text, "}};\n");
    for inlined in 0..INLINED {
        let (to, from) = (inlined % fields, (inlined + 1) % fields);
        let shift = 7 + (function + inlined) % 20;
        let _ = write!(
            text,
            "static inline __attribute__((always_inline)) uint64_t step_{inlined}_of_{name}(\n    \
             struct record_{name} *record, uint64_t state)\n{{\n    \
             uint64_t mixed_{inlined} = state ^ state << {shift};\n    \
             uint64_t turned_{inlined} = mixed_{inlined} ^ mixed_{inlined} >> 9;\n    \
             if (turned_{inlined} & 1)\n        \
             record->field_{to}_of_{name} += turned_{inlined};\n    \
             else\n        \
             record->field_{to}_of_{name} ^= mixed_{inlined};\n    \
             return turned_{inlined} + record->field_{from}_of_{name};\n}}\n\n"
        );
    }
    let _ = write!(
        text,
        "uint64_t {name}(uint64_t state)\n{{\n    \
         struct record_{name} record = {{.field_0_of_{name} = state, .field_1_of_{name} = {unit}}};\n    \
         for (unsigned round_of_{name} = 0; round_of_{name} < 100; round_of_{name}++) {{\n"
    );
    for inlined in 0..INLINED {
        let _ = writeln!(text, "        state = step_{inlined}_of_{name}(&record, state);");
    }
    let _ = write!(text, "    }}\n    return state | 1;\n}}\n\n");
}

fn main_source() -> String {
    let names = || (0..UNITS).flat_map(|unit| (0..FUNCTIONS).map(move |function| function_name(unit, function)));
    let mut text = String::from("#include \"levels.h\"\n\n");
    text.extend(names().map(|name| format!("work_fn {name};\n")));
    text.push_str("\nstatic work_fn *const functions[] = {\n");
    text.extend(names().map(|name| format!("    {name},\n")));
    text.push_str(
        "};\n\nint main(int argc, char **argv)\n{\n    \
         uint64_t end_ns = now_ns() + length_ns(argc, argv), state = SEED, calls = 0;\n    \
         size_t count = sizeof functions / sizeof *functions;\n    \
         for (; now_ns() < end_ns; calls++)\n        \
         state = level_15(functions[(state >> 20) % count], state);\n    \
         printf(\"truth functions=%lu calls=%lu end_ns=%lu\\n\", (unsigned long)count, (unsigned long)calls,\n           \
         (unsigned long)now_ns());\n    \
         return 0;\n}\n",
    );
    text
}
