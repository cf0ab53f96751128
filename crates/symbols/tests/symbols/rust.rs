//! Rust, in both manglings.

use crate::{Workshop, line_of, names, shown};

const SOURCE: &str = r#"
#![allow(named_asm_labels)]
use std::arch::asm;
mod geo {
    use super::asm;
    pub trait Area { fn area(&self, x: u64) -> u64; }
    pub struct Square(pub u64);
    #[inline(always)]
    fn inner(x: u64) -> u64 {
        unsafe { asm!("mark_inner: nop") }; // inner
        x * 3
    }
    impl Area for Square {
        #[inline(never)]
        fn area(&self, x: u64) -> u64 {
            inner(x) + self.0 // area
        }
    }
    #[inline(never)]
    pub fn generic<T: Area>(shape: &T) -> u64 {
        unsafe { asm!("mark_generic: nop") };
        shape.area(7)
    }
}
fn main() {
    let square = geo::Square(std::env::args().count() as u64);
    let sum: u64 = (0..3).map(|x| geo::generic(&square) + x).sum();
    std::process::exit(sum as i32 & 1);
}
"#;

#[test]
fn both_manglings() {
    let (inner, area) = (line_of(SOURCE, "// inner"), line_of(SOURCE, "// area"));
    for (mangling, generic) in [("legacy", "shape::geo::generic"), ("v0", "shape::geo::generic::<shape::geo::Square>")]
    {
        let shop = Workshop::new("shape.rs", SOURCE);
        let mut flags = vec!["-O", "-g", "-C", "codegen-units=1", "shape.rs", "-o", "program"];
        let mangling_flag = format!("symbol-mangling-version={mangling}");
        flags.extend(["-C", &mangling_flag]);
        if mangling == "legacy" {
            flags.extend(["-Z", "unstable-options"]);
        }
        let output = std::process::Command::new("rustc")
            .args(&flags)
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(shop.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found = shop.look_up("program", &[shop.nm("program", "mark_inner"), shop.nm("program", "mark_generic")]);
        assert_eq!(
            shown(&found[0]).unwrap()[..2],
            [
                format!("shape::geo::inner (inlined) shape.rs:{inner}"),
                format!("<shape::geo::Square as shape::geo::Area>::area shape.rs:{area}")
            ],
            "{mangling}"
        );
        assert_eq!(names(&found[1]).unwrap(), [generic], "{mangling}");
    }
}
