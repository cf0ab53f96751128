//! C++: namespaces, classes, templates, lambdas, what is local to a file, and inlining.

use crate::{Workshop, line_of, look_up, names, shown};
use symbols::Options;

const SOURCE: &str = r#"
#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))
#define MARK(name) __asm__ volatile(#name ": nop")
namespace geo {
struct Shape {
    int side;
    INLINE int inner(int x) const {
        MARK(mark_inner); // inner
        return x * side;
    }
    NOINLINE int area(int x) const {
        return inner(x) + 1; // area
    }
    NOINLINE int operator()(int x, int y) const { MARK(mark_call); return x + y + side; }
};
namespace {
NOINLINE int hidden(int x) { MARK(mark_hidden); return x * 7; }
}
static NOINLINE int local(int x) { MARK(mark_local); return x * 5; }
template <typename T> NOINLINE T twice(T x) { MARK(mark_template); return x + x; }
NOINLINE bool operator<(const Shape &a, const Shape &b) { MARK(mark_less); return a.side < b.side; }
}
extern "C" NOINLINE int a(int x) { MARK(mark_a); return x + 9; }
int main(int argc, char **) {
    geo::Shape shape{argc}, other{argc + 1};
    auto lambda = [&](int x) NOINLINE { MARK(mark_lambda); return x + shape.side; };
    return shape.area(argc) + shape(argc, 2) + geo::hidden(argc) + geo::local(argc) + geo::twice(argc)
        + (shape < other) + a(argc) + lambda(argc);
}
"#;

/// Inlined functions that are local to the file.
pub(crate) const LOCAL: &str = r#"
#define INLINE inline __attribute__((always_inline))
#define MARK(name) __asm__ volatile(#name ": nop")
namespace geo {
namespace { INLINE int hidden(int x) { MARK(mark_hidden); return x * 3; } }
static INLINE int local(int x) { MARK(mark_local); return x * 5; }
template <class T> static INLINE T twice(T x) { MARK(mark_template); return x * 5; }
namespace { struct Shape { INLINE int area(int x) const; }; }
int Shape::area(int x) const { MARK(mark_method); return x * 11; }
__attribute__((noinline)) int all(int x) { return hidden(x) + local(x) + twice(x) + Shape{}.area(x); }
}
static INLINE int plain(int x) {
    auto nested = [&](int y) __attribute__((always_inline)) { MARK(mark_nested); return x + y; };
    return nested(x);
}
extern "C" INLINE int c_function(int x) { MARK(mark_c); return x - 1; }
int main(int argc, char **) {
    auto first = [&](int x) __attribute__((always_inline)) { MARK(mark_first); return x + argc; };
    auto second = [&](int x) __attribute__((always_inline)) { MARK(mark_second); return x - argc; };
    return geo::all(argc) + first(argc) + second(argc) + plain(argc) + c_function(argc);
}
"#;

const EXPECTED: [(&str, &str); 8] = [
    ("mark_call", "geo::Shape::operator()"),
    ("mark_hidden", "geo::(anonymous namespace)::hidden"),
    ("mark_local", "geo::local"),
    ("mark_template", "geo::twice<int>"),
    ("mark_less", "geo::operator<"),
    ("mark_a", "a"),
    ("mark_lambda", "main::{lambda(int)#1}::operator()"),
    ("mark_inner", "geo::Shape::area"),
];

fn build() -> Workshop {
    let shop = Workshop::new("shape.cpp", SOURCE);
    shop.run("g++", &["-O2", "-g", "-fno-ipa-icf", "shape.cpp", "-o", "program"]);
    shop
}

#[test]
fn functions_keep_their_namespaces_with_and_without_inlines() {
    let shop = build();
    let addresses = EXPECTED.map(|(mark, _)| shop.nm("program", mark));
    for inlines in [true, false] {
        let found = look_up(&shop.path("program"), Options { inlines, ..shop.options() }, &addresses);
        for ((mark, expected), found) in EXPECTED.iter().zip(&found) {
            assert_eq!(names(found).unwrap().last(), Some(expected), "{mark}, inlines: {inlines}");
        }
    }
}

#[test]
fn an_inlined_method_has_its_class_and_line() {
    let shop = build();
    let found = shop.look_up("program", &[shop.nm("program", "mark_inner")]);
    let (inner, area) = (line_of(SOURCE, "// inner"), line_of(SOURCE, "// area"));
    assert_eq!(
        shown(&found[0]).unwrap(),
        [format!("geo::Shape::inner (inlined) shape.cpp:{inner}"), format!("geo::Shape::area shape.cpp:{area}")]
    );
}

/// GCC tells no mangled name of what is local to a file, and so no scope of it.
#[test]
fn inlined_functions_that_are_local_to_a_file() {
    let expected = [
        ("mark_hidden", &["geo::(anonymous namespace)::hidden", "geo::all"][..]),
        ("mark_local", &["geo::local", "geo::all"]),
        ("mark_template", &["geo::twice<int>", "geo::all"]),
        ("mark_method", &["geo::(anonymous namespace)::Shape::area", "geo::all"]),
        ("mark_nested", &["plain::{lambda#1}::operator()", "plain", "main"]),
        ("mark_c", &["c_function", "main"]),
        ("mark_first", &["main::{lambda#1}::operator()", "main"]),
        ("mark_second", &["main::{lambda#2}::operator()", "main"]),
    ];
    let shop = Workshop::new("local.cpp", LOCAL);
    for flags in [&[][..], &["-gdwarf-4"], &["-gz"], &["-ffunction-sections"]] {
        shop.run("g++", &[&["-O2", "-g", "local.cpp", "-o", "program"], flags].concat());
        let addresses = expected.map(|(mark, _)| shop.nm("program", mark));
        for ((mark, expected), found) in expected.iter().zip(shop.look_up("program", &addresses)) {
            assert_eq!(names(&found).unwrap(), *expected, "{mark} {flags:?}");
        }
    }
}

#[test]
fn raw_names_stay_as_the_linker_knows_them() {
    let shop = build();
    let options = Options { raw_names: true, ..shop.options() };
    let found = look_up(&shop.path("program"), options, &[shop.nm("program", "mark_inner")]);
    assert_eq!(names(&found[0]).unwrap(), ["_ZNK3geo5Shape5innerEi", "_ZNK3geo5Shape4areaEi"]);
}

/// GCC splits off what it takes for cold, under a name of its own.
#[test]
fn the_cold_part_of_a_function() {
    let source = "
#include <stdexcept>
namespace ns {
__attribute__((noinline, cold)) void report(int x) { if (x > 1) throw std::runtime_error(\"x\"); }
__attribute__((noinline)) int work(int x) {
    if (__builtin_expect(x > 100, 0)) { report(x); __asm__ volatile(\"mark: nop\"); report(x + 1); throw x; }
    return x * 3;
}
}
int main(int argc, char **) { try { return ns::work(argc); } catch (...) { return 1; } }
";
    let shop = Workshop::new("cold.cpp", source);
    shop.run("g++", &["-O2", "-g", "cold.cpp", "-o", "program"]);
    let found = shop.look_up("program", &[shop.nm("program", "mark")]);
    assert_eq!(names(&found[0]).unwrap(), ["ns::work [clone .cold]"]);
}
