//! Names as people write them: Rust's and C++'s mangled ones, and no others. A C function may
//! be called `i` or `a`, which a demangler that is asked takes for a type.

use crate::parameters::without_parameters;
use cpp_demangle::DemangleOptions;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The readable form of a symbol's name, as far as it is a mangled one:
///
/// - Rust (`_R…`, and `_ZN…17h<hash>E` from before): the path, without the hashes;
/// - C++ (`_Z…`, Itanium C++ ABI): the name, without return type and parameter list;
/// - everything else: as it is.
///
/// A suffix by which the compiler tells copies of a function apart (`.cold`, `.isra.0`) stays
/// as ` [clone .cold]`, the way binutils writes it. One that only makes a name unique among
/// files (`.llvm.<hash>`, `.lto_priv.0`) goes. The `@plt` of a stub stays as it is.
pub fn demangle(name: &str) -> Cow<'_, str> {
    const STUB: &str = "@plt";
    let demangled = match name.strip_suffix(STUB) {
        Some(function) => demangled(function).map(|readable| readable + STUB),
        None => demangled(name),
    };
    demangled.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// `None` where the name is not mangled.
fn demangled(name: &str) -> Option<String> {
    if name.starts_with("_R") || is_legacy_rust(name) {
        rust(name)
    } else if name.starts_with("_Z") {
        cpp(name)
    } else {
        None
    }
}

/// No name that a person could read is longer. Substitutions of both schemes can double a name
/// over and over, so that a hundred bytes of a hostile symbol stand for gigabytes.
const LONGEST: usize = 64 << 10;

/// `_ZN…17h<16 hexadecimal digits>E`, perhaps with a suffix: the last part of the path is the
/// compiler's hash. All else that starts so is C++.
fn is_legacy_rust(name: &str) -> bool {
    const HASH_LEN: usize = 16;
    let Some(path) = name.strip_prefix("_ZN") else { return false };
    // Some suffixes hold an `E` or a `.`; the path's own dots come in pairs or before the hash.
    path.match_indices("17h").any(|(at, mark)| {
        let rest = &path.as_bytes()[at + mark.len()..];
        rest.len() > HASH_LEN
            && rest[..HASH_LEN].iter().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
            && rest[HASH_LEN] == b'E'
            && matches!(rest.get(HASH_LEN + 1), None | Some(b'.'))
    })
}

fn rust(name: &str) -> Option<String> {
    // The hash ends the path, so that the suffix starts at the first dot behind it; a path of
    // today's scheme holds no dot at all.
    let path_end = if name.starts_with("_R") { 0 } else { name.rfind("17h")? };
    let (path, suffix) = split_suffix(name, path_end);
    let symbol = rustc_demangle::try_demangle(path).ok()?;
    let mut text = Bounded(String::new());
    write!(text, "{symbol:#}").ok()?;
    Some(text.0 + &clones(suffix))
}

fn cpp(name: &str) -> Option<String> {
    let (path, suffix) = split_suffix(name, 0);
    let (prefix, encoding) = thunk(path);
    let symbol = cpp_demangle::Symbol::new(encoding.as_bytes()).ok()?;
    let mut text = Bounded(prefix.into());
    symbol.structured_demangle(&mut text, &DemangleOptions::new().no_return_type()).ok()?;
    Some(without_parameters(&text.0).into_owned() + &clones(suffix))
}

fn split_suffix(name: &str, from: usize) -> (&str, &str) {
    match name[from..].find('.') {
        Some(at) => name.split_at(from + at),
        None => (name, ""),
    }
}

/// The suffix `.isra.0.cold` as ` [clone .isra.0] [clone .cold]`: a word with its numbers each.
fn clones(suffix: &str) -> String {
    let mut groups: Vec<(&str, String)> = Vec::new();
    for part in suffix.split('.').skip(1) {
        let is_number = part.starts_with(|first: char| first.is_ascii_digit());
        match groups.last_mut() {
            Some((_, group)) if is_number => _ = write!(group, ".{part}"),
            _ => groups.push((part, format!(".{part}"))),
        }
    }
    groups.retain(|(word, _)| !matches!(*word, "llvm" | "lto_priv" | "lto" | "__uniq"));
    groups.iter().map(|(_, group)| format!(" [clone {group}]")).collect()
}

/// The words for a thunk, and the mangled name of the function that it leads to. The ABI
/// encodes a thunk as `_ZTh`, `_ZTv` or `_ZTc`, offsets, and the function.
fn thunk(name: &str) -> (&'static str, Cow<'_, str>) {
    let parsed = || {
        let rest = name.strip_prefix("_ZT")?;
        let (words, function) = match rest.as_bytes().first()? {
            b'h' => ("non-virtual thunk to ", call_offset(rest)?),
            b'v' => ("virtual thunk to ", call_offset(rest)?),
            b'c' => ("covariant return thunk to ", call_offset(call_offset(&rest[1..])?)?),
            _ => return None,
        };
        Some((words, format!("_Z{function}").into()))
    };
    parsed().unwrap_or(("", name.into()))
}

/// What follows `h <offset> _` or `v <offset> _ <offset> _`.
fn call_offset(text: &str) -> Option<&str> {
    fn offset(text: &str) -> Option<&str> {
        let digits = text.strip_prefix('n').unwrap_or(text);
        let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
        rest.strip_prefix('_').filter(|_| rest.len() < digits.len())
    }
    match text.as_bytes().first()? {
        b'h' => offset(&text[1..]),
        b'v' => offset(offset(&text[1..])?),
        _ => None,
    }
}

/// A string that refuses to outgrow [`LONGEST`].
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names_that_are_not_mangled_stay() {
        for name in
            ["a", "b", "c", "i", "x", "main", "v", "_start", "", "_Z", "_R", "_ZN", "_Zebra", "_Rust", "__libc_start"]
        {
            assert_eq!(demangle(name), name);
        }
        // GCC's suffixes in C.
        for name in ["leaf.isra.0", "leaf.part.1", "leaf.constprop.0.cold", "leaf.llvm.123", "Ljavac;.run"] {
            assert_eq!(demangle(name), name);
        }
    }

    #[test]
    fn rust() {
        for (name, expected) in [
            ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"),
            (
                "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
                "<Test + 'static as foo::Bar<Test>>::bar",
            ),
            ("_ZN3foo3bar17h05af221e174051e9E.llvm.9D1C9369", "foo::bar"),
            ("_ZN3foo3bar17h05af221e174051e9E.llvm.1234.cold", "foo::bar [clone .cold]"),
            ("_ZN3foo3bar17h05af221e174051e9E.lto_priv.0", "foo::bar"),
            ("_ZN3foo3bar17h05af221e174051e9E.cold", "foo::bar [clone .cold]"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
            ("_RNCNvC6_123foo3bar0", "123foo::bar::{closure#0}"),
            ("_RNvC6_123foo3bar.llvm.9D1C9369", "123foo::bar"),
            ("_RNvC6_123foo3bar.cold.1", "123foo::bar [clone .cold.1]"),
            ("_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"),
        ] {
            assert_eq!(demangle(name), expected);
        }
    }

    #[test]
    fn cpp() {
        for (name, expected) in [
            ("_Z3fooi", "foo"),
            ("_ZN2ns3fooEPKc", "ns::foo"),
            ("_ZNK2ns1A1fEv", "ns::A::f"),
            ("_ZNKR1A1fEv", "A::f"),
            ("_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"),
            // A template's return type is part of its mangled name.
            ("_Z3fooIiEvT_", "foo<int>"),
            ("_ZN2ns3fooIJicEEEDaDpT_", "ns::foo<int, char>"),
            ("_Z3fooIiEPFvvET_", "foo<int>"),
            ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_ZN3FooclEi", "Foo::operator()"),
            ("_ZN3FooclEi@plt", "Foo::operator()@plt"),
            ("_ZNK3FooclEv", "Foo::operator()"),
            ("_ZlsRSoRK3Foo", "operator<<"),
            ("_ZN3FooltERKS_", "Foo::operator<"),
            ("_ZNK3FooptEv", "Foo::operator->"),
            ("_ZNK3FoocviEv", "Foo::operator int"),
            ("_Znwm", "operator new"),
            ("_ZN3FooC2Ev", "Foo::Foo"),
            ("_ZN3FooD0Ev", "Foo::~Foo"),
            // GCC writes the unified constructor into DWARF only.
            ("_ZN3FooC4Ei", "Foo::Foo"),
            ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"),
            ("_ZZ1fiENKUliE_clEi", "f(int)::{lambda(int)#1}::operator()"),
            ("_Z3fooB5cxx11i", "foo[abi:cxx11]"),
            ("_ZN2ns3fooEi.cold", "ns::foo [clone .cold]"),
            ("_ZN2ns3fooEi.isra.0.part.1", "ns::foo [clone .isra.0] [clone .part.1]"),
            ("_ZN2ns3fooEi.constprop.0", "ns::foo [clone .constprop.0]"),
            ("_ZN2ns3fooEi.__uniq.123.llvm.456", "ns::foo"),
            ("_ZThn16_N3Foo3barEi", "non-virtual thunk to Foo::bar"),
            ("_ZTv0_n24_N3Foo3barEv", "virtual thunk to Foo::bar"),
            ("_ZTch0_h16_N3Foo3barEv", "covariant return thunk to Foo::bar"),
            ("_ZTW3foo", "TLS wrapper function for foo"),
            // A legacy Rust hash needs all of its sixteen digits.
            ("_ZN3foo3bar17h05afE", "_ZN3foo3bar17h05afE"),
            ("_ZN3foo17h0123456789ABCDEFEv", "foo::h0123456789ABCDEF"),
        ] {
            assert_eq!(demangle(name), expected, "{name}");
        }
    }

    #[test]
    fn hostile_names_end() {
        // Each `S_`-like step doubles what the one before stands for.
        let mut name = String::from("_Z1fSt4pairI1aS0_E");
        for step in 1..60 {
            name.push_str(&format!("St4pairIS{0}_S{0}_E", to_base_36(step)));
        }
        assert!(demangle(&name).len() <= name.len().max(super::LONGEST));
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        assert_eq!(demangle(&deep), deep);
        let nested = format!("_ZN{}E", "1a".repeat(100_000));
        demangle(&nested);
        let rust = format!("_RNv{}C1a1b", "N".repeat(100_000));
        demangle(&rust);
    }

    fn to_base_36(value: u32) -> String {
        let digit = |value| char::from_digit(value, 36).unwrap().to_ascii_uppercase();
        if value < 36 { digit(value).to_string() } else { format!("{}{}", digit(value / 36), digit(value % 36)) }
    }
}
