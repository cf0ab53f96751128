//! The text that `perf script` prints. It is recognised, since it is often given where folded
//! text is meant, and told from folded text by what only it has: a header line with a task, a
//! time and an event, and indented frames that end in a file in parentheses.

use crate::folded_line::{self, Line};
use crate::format::{Decode, Format};

/// The format.
pub const FORMAT: Format = Format {
    name: "perf-script",
    summary: "the text of `perf script`",
    extensions: &["perf"],
    sniff,
    decode: Decode::NotYet { advice: "fold it first, for instance with `stackcollapse-perf.pl`" },
    encode: None,
};

/// How much of an input its format is judged by.
const SNIFFED: usize = 64 << 10;

/// Whether lines of `perf script` are among the first, and no fewer than lines of folded text.
pub fn sniff(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let (mut script, mut folded) = (0, 0);
    for (_, line) in folded_line::lines(head) {
        if is_header(line) || is_frame(line) {
            script += 1;
        } else if matches!(folded_line::parse(line), Ok(Line::Stack { .. })) {
            folded += 1;
        }
    }
    script > 0 && script >= folded
}

/// `comm pid[/tid] [[cpu]] seconds.fraction: …`, where comm may hold blanks.
fn is_header(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(24).collect();
    let Some(time) = fields.iter().position(|field| is_time(field)) else { return false };
    let before = &fields[..time];
    let before = match before.split_last() {
        Some((cpu, rest)) if cpu.starts_with(b"[") && cpu.ends_with(b"]") => rest,
        _ => before,
    };
    before.len() >= 2 && before.last().is_some_and(|task| is_task(task))
}

/// `5.000001:`
fn is_time(field: &[u8]) -> bool {
    let Some(number) = field.strip_suffix(b":") else { return false };
    let Some(point) = number.iter().position(|&byte| byte == b'.') else { return false };
    is_number(&number[..point]) && is_number(&number[point + 1..])
}

/// `1234` or `1234/1235`; -1 where perf does not know.
fn is_task(field: &[u8]) -> bool {
    field.splitn(2, |&byte| byte == b'/').all(|id| is_number(id.strip_prefix(b"-").unwrap_or(id)))
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// A blank, an address, a name and a file in parentheses.
fn is_frame(line: &[u8]) -> bool {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let indented = line.first().is_some_and(u8::is_ascii_whitespace);
    let address = fields.next().is_some_and(|field| field.iter().all(u8::is_ascii_hexdigit));
    indented && address && fields.next().is_some() && line.trim_ascii_end().ends_with(b")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_frames() {
        for line in [
            "a 1 [000] 5.0: 10 cycles:",
            "a 1234 5.000001: 10 cycles:",
            "pool 7 worker 1234/1235 [000] 5.0: 10 cycles:",
            ":-1 -1 [001] 5.1: 10 cycles:",
            "  app 7 [004] 5.1: syscalls:sys_enter_brk: brk: 0x1fc0",
        ] {
            assert!(is_header(line.as_bytes()), "{line}");
        }
        for line in ["\tffff main (/bin/a)", "        7f00 [unknown] (/memfd:x (deleted))", "\tffff foo+0x5 (inlined)"]
        {
            assert!(is_frame(line.as_bytes()), "{line}");
        }
        for line in ["main;a 5", "1 2 3", "main;at 3.5: 7", "\tmain (x) 5", "10:30.5: x"] {
            assert!(!is_header(line.as_bytes()) && !is_frame(line.as_bytes()), "{line}");
        }
    }
}
