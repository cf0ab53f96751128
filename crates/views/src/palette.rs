//! Colours as data. A palette has a shade for each class of frames, so that kernel, user,
//! inlined and generated code differ in hue; within a shade the function's name alone decides,
//! so that a function has the same colour in every picture. All shades are light enough for
//! dark text (a test holds them to WCAG's contrast of 4.5).

use crate::tree_frame::{FrameClass, TreeFrame};
use std::fmt;

/// The palettes, the default first.
pub const PALETTES: &[Palette] = &[
    Palette { name: "hot", summary: "warm user code, blue kernel", shades: HOT },
    Palette { name: "mem", summary: "greens, for memory", shades: around(152) },
    Palette { name: "io", summary: "light blues, for input and output", shades: around(199) },
    Palette { name: "blue", summary: "around blue", shades: around(220) },
    Palette { name: "green", summary: "around green", shades: around(112) },
    Palette { name: "red", summary: "around red", shades: around(4) },
    Palette { name: "aqua", summary: "around aqua", shades: around(178) },
    Palette { name: "orange", summary: "around orange", shades: around(30) },
    Palette { name: "purple", summary: "around purple", shades: around(276) },
    Palette { name: "yellow", summary: "around yellow", shades: around(52) },
    Palette { name: "colorblind", summary: "told apart without red and green", shades: COLORBLIND },
];

/// A palette.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Palette {
    /// What the user calls it.
    pub name: &'static str,
    /// What it looks like, in a few words.
    pub summary: &'static str,
    shades: [Shade; FrameClass::ALL.len()],
}

impl Default for Palette {
    fn default() -> Self {
        PALETTES[0]
    }
}

impl Palette {
    /// The palette of this name.
    pub fn find(name: &str) -> Option<&'static Palette> {
        PALETTES.iter().find(|palette| palette.name == name)
    }

    /// The colour of a frame.
    pub fn color(&self, frame: &TreeFrame) -> Color {
        self.shades[frame.class() as usize].color(hash(&frame.name))
    }

    /// The colour that stands for a class of frames in a legend.
    pub fn legend_color(&self, class: FrameClass) -> Color {
        self.shades[class as usize].at(0.5, 0.5)
    }
}

/// A colour, written as `#rrggbb`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Color {
    /// Red, green and blue in sRGB.
    pub rgb: [u8; 3],
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.rgb;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A range of colours: hues in degrees, saturation and lightness in percent (HSL).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shade {
    hue: (u16, u16),
    saturation: u8,
    lightness: (u8, u8),
}

const fn shade(hue: (u16, u16), saturation: u8, lightness: (u8, u8)) -> Shade {
    Shade { hue, saturation, lightness }
}

const THREAD: Shade = shade((220, 240), 10, (83, 87));

const HOT: [Shade; 6] = [
    THREAD,
    shade((14, 37), 84, (65, 72)),
    shade((48, 55), 80, (68, 75)),
    shade((206, 224), 62, (72, 79)),
    shade((100, 140), 42, (66, 73)),
    shade((268, 288), 48, (76, 82)),
];

/// Hues and order of the palette that Okabe and Ito published for all kinds of colour vision.
const COLORBLIND: [Shade; 6] = [
    THREAD,
    shade((38, 43), 90, (56, 66)),
    shade((55, 57), 85, (68, 78)),
    shade((200, 204), 77, (66, 76)),
    shade((162, 166), 52, (56, 64)),
    shade((325, 329), 45, (72, 79)),
];

/// User code around one hue, the other classes at fixed distances from it.
const fn around(hue: u16) -> [Shade; 6] {
    const fn near(hue: u16, distance: u16, spread: u16) -> (u16, u16) {
        let middle = (hue + distance) % 360 + 360;
        (middle - spread, middle + spread)
    }
    [
        THREAD,
        shade(near(hue, 0, 10), 68, (66, 75)),
        shade(near(hue, 330, 6), 62, (76, 82)),
        shade(near(hue, 180, 8), 50, (72, 78)),
        shade(near(hue, 90, 8), 46, (70, 77)),
        shade(near(hue, 270, 8), 46, (76, 82)),
    ]
}

impl Shade {
    fn color(self, hash: u64) -> Color {
        let part = |shift: u32| f64::from((hash >> shift) as u16) / f64::from(u16::MAX);
        self.at(part(0), part(16))
    }

    fn at(self, hue: f64, lightness: f64) -> Color {
        let between = |from: f64, to: f64, part: f64| from + (to - from) * part;
        let hue = between(self.hue.0.into(), self.hue.1.into(), hue) % 360.0;
        let lightness = between(self.lightness.0.into(), self.lightness.1.into(), lightness) / 100.0;
        let saturation = f64::from(self.saturation) / 100.0;
        // HSL to sRGB, CSS Color Module Level 4, section 7.1.
        let channel = |n: f64| {
            let k = (n + hue / 30.0) % 12.0;
            let a = saturation * lightness.min(1.0 - lightness);
            let value = lightness - a * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
            (value * 255.0).round() as u8
        };
        Color { rgb: [channel(0.0), channel(8.0), channel(4.0)] }
    }
}

/// FNV-1a over the name, its bits mixed once more (the finalizer of SplitMix64), since names
/// that differ in their last letter would otherwise get almost the same colour. It must never
/// change: pictures of different days are laid side by side.
fn hash(name: &str) -> u64 {
    let mut hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameKind;
    use model::CodeKind;

    fn frame(name: &str, kind: FrameKind, inlined: bool) -> TreeFrame {
        TreeFrame { name: name.into(), kind, inlined }
    }

    #[test]
    fn a_function_has_the_same_colour_for_ever() {
        let hot = Palette::default();
        assert_eq!(hot.color(&frame("main", FrameKind::Code(CodeKind::User), false)).to_string(), "#f4b17b");
        assert_eq!(hot.color(&frame("vfs_read", FrameKind::Code(CodeKind::Kernel), false)).to_string(), "#90a8e5");
    }

    #[test]
    fn names_are_unique_and_found() {
        for palette in PALETTES {
            assert_eq!(Palette::find(palette.name), Some(palette));
            assert!(!palette.summary.is_empty());
        }
        assert_eq!(Palette::find("plaid"), None);
    }

    fn luminance(color: Color) -> f64 {
        let [r, g, b] = color.rgb.map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn dark_text_is_readable_on_every_shade() {
        let text = luminance(Color { rgb: [0x16, 0x16, 0x1a] });
        for palette in PALETTES {
            for (class, shade) in FrameClass::ALL.iter().zip(palette.shades) {
                for corner in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                    let background = luminance(shade.at(corner.0, corner.1));
                    let contrast = (background + 0.05) / (text + 0.05);
                    assert!(contrast >= 4.5, "{} {class:?} {contrast}", palette.name);
                }
            }
        }
    }

    #[test]
    fn classes_differ_in_hue() {
        for palette in PALETTES {
            for (index, one) in palette.shades.iter().enumerate().skip(1) {
                for other in &palette.shades[index + 1..] {
                    let middle = |shade: &Shade| (shade.hue.0 + shade.hue.1) / 2 % 360;
                    let distance = middle(one).abs_diff(middle(other));
                    assert!(distance.min(360 - distance) >= 15, "{}: {one:?} {other:?}", palette.name);
                }
            }
        }
    }
}
