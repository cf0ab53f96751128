//! The pictures in a browser: a driver clicks and types as a reader would and writes what it
//! finds into the document, which comes back as text.

use crate::samples::{Build, server};
use crate::script::skipped;
use crate::svg::{draw, server_options};
use model::{Profile, StackEnd};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use views::{FlameGraphOptions, RootSide};

/// What the drivers below have in common. `say` keeps a finding.
const DRIVER: &str = r#"
const findings = [];
const say = (name, value) => findings.push(name + "\t" + String(value).replace(/\s/g, " "));
const svg = document.querySelector("svg.flamel");
const groups = [...svg.querySelectorAll(".frames > g")];
const group = (name) => groups.find((one) => one.firstElementChild.textContent.startsWith(name + " ("));
const rect = (name) => { const one = group(name).children[1]; return one.getAttribute("x") + " " + one.getAttribute("width"); };
const text = (name) => group(name).querySelector("text")?.textContent;
const isShown = (name) => getComputedStyle(group(name)).display !== "none";
const line = (name) => svg.querySelector("text." + name).textContent;
const tool = (label) => [...svg.querySelectorAll(".tool")].find((one) => one.querySelector("text").textContent === label);
const input = svg.querySelector("input");
const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const hover = (element) => element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
const key = (name, more) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
const type = (text) => { input.value = text; input.dispatchEvent(new Event("input", { bubbles: true })); };
"#;

/// The findings of a driver in a page that holds the picture; `None` without a browser.
fn in_page(svg: &str, driver: &str) -> Option<BTreeMap<String, String>> {
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>page</title><body>{svg}<pre id=\"findings\"></pre>\n\
         <script>{}</script>",
        script(driver)
    );
    findings("page.html", &page, "")
}

/// The findings of a driver in the picture itself, opened as a file.
fn as_document(svg: &str, driver: &str, fragment: &str) -> Option<BTreeMap<String, String>> {
    let (before, _) = svg.rsplit_once("</svg>").unwrap();
    let page = format!("{before}<desc id=\"findings\"></desc><script><![CDATA[{}]]></script></svg>", script(driver));
    findings("picture.svg", &page, fragment)
}

/// The driver with what drivers share; what it has found comes back even where it breaks.
fn script(driver: &str) -> String {
    let write = "document.getElementById('findings').textContent = findings.join('\\n')";
    format!("{DRIVER}\ntry {{\n{driver}\n}} catch (error) {{ say('error', error); }}\n{write};")
}

fn findings(name: &str, document: &str, fragment: &str) -> Option<BTreeMap<String, String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, document).unwrap();
    let dom = dump(&format!("file://{}{fragment}", path.display()), folder.path())?;
    let (_, after) =
        dom.split_once(r#"id="findings">"#).unwrap_or_else(|| panic!("the document did not come back:\n{dom}"));
    let (text, _) = after.split_once("</").unwrap();
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found: BTreeMap<_, _> = text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    assert!(!found.is_empty(), "the driver did not run to its end:\n{dom}");
    assert_eq!(found.get("error"), None);
    Some(found)
}

fn dump(url: &str, folder: &Path) -> Option<String> {
    let dom = folder.join("dom");
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--virtual-time-budget=5000", "--window-size=1300,800"])
        .arg(format!("--user-data-dir={}", folder.join("user").display()))
        .args(["--dump-dom", url])
        .stdin(Stdio::null())
        .stdout(File::create(&dom).unwrap())
        .stderr(Stdio::null());
    let Ok(mut browser) = command.spawn() else {
        skipped("chromium is not installed: pictures are not tested in a browser");
        return None;
    };
    let start = Instant::now();
    while browser.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            browser.kill().unwrap();
            browser.wait().unwrap();
            panic!("the browser did not come back from {url}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(std::fs::read_to_string(dom).unwrap())
}

/// all(1000) = main(1000); main = left(600) + right(400); left = deep(300) + 300 of its own;
/// right = deep(200) + other(200).
fn small() -> Profile {
    let mut build = Build::plain();
    build.line("main;left;deep;deep", 300, 300).line("main;left", 300, 300);
    build.line("main;right;deep", 200, 200).line(
        "main;right;other_function_with_a_name_that_is_far_too_long_for_its_narrow_box_of_two_hundred",
        200,
        200,
    );
    build.profile
}

#[track_caller]
fn assert_found(found: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(found.get(*name).map(String::as_str), Some(*value), "{name} of {found:#?}");
    }
}

#[test]
fn clicks_zoom_and_ancestors_stay() {
    let driver = r#"
say("before", rect("right"));
say("cut", text("other_function_with_a_name_that_is_far_too_long_for_its_narrow_box_of_two_hundred"));
hover(group("left").children[1]);
say("hover", line("details"));
click(group("right").children[1]);
say("right", rect("right"));
say("main", rect("main"));
say("faded", group("main").classList.contains("faded") && !group("right").classList.contains("faded"));
say("gone", isShown("left"));
say("whole", text("other_function_with_a_name_that_is_far_too_long_for_its_narrow_box_of_two_hundred"));
const child = groups.filter((one) => one.dataset.at === "3 600 200")[0].children[1];
say("child", child.getAttribute("x") + " " + child.getAttribute("width"));
hover(child);
say("hover zoomed", line("details"));
say("reset", tool("Reset zoom").getAttribute("aria-disabled"));
click(tool("Reset zoom"));
say("after", rect("right"));
say("back", isShown("left") && !group("main").classList.contains("faded"));
"#;
    let Some(found) = in_page(&draw(&small(), &FlameGraphOptions::default()), driver) else { return };
    assert_found(
        &found,
        &[
            // 1172 pixels for 1000 samples, from 14 on; 0.8 pixels part the boxes of a row.
            ("before", "717.2 468"),
            ("cut", "other_function_with_a_name_th.."),
            ("hover", "left (600 samples; 60.00 %)"),
            ("right", "14.00 1171.20"),
            ("main", "14.00 1171.20"),
            ("faded", "true"),
            ("gone", "false"),
            ("whole", "other_function_with_a_name_that_is_far_too_long_for_its_narrow_box_of_two_hund.."),
            ("child", "14.00 585.20"),
            ("hover zoomed", "deep (200 samples; 20.00 %; 50.00 % of the zoomed box)"),
            ("reset", "false"),
            ("after", "717.20 468.00"),
            ("back", "true"),
        ],
    );
}

#[test]
fn searches_count_nested_matches_once() {
    let driver = r#"
type("deep");
say("deep", svg.dataset.matched + " " + line("matched"));
say("hits", svg.querySelectorAll(".hit").length);
type("left|deep");
say("left|deep", svg.dataset.matched);
type("^main$");
say("main", svg.dataset.matched);
click(group("right").children[1]);
type("deep");
say("zoomed", svg.dataset.matched + " " + svg.dataset.matchedZoomed + " " + line("matched"));
type("main");
say("above the zoomed box", svg.dataset.matchedZoomed);
type("left");
say("beside the zoomed box", svg.dataset.matched + " " + svg.dataset.matchedZoomed);
type("DEEP");
say("case", svg.dataset.matched + " " + line("matched"));
click(tool("Aa"));
say("no case", svg.dataset.matched);
type("(");
say("broken", line("matched") + " " + svg.querySelectorAll(".hit").length + " " + input.getAttribute("aria-invalid"));
type("samples");
say("numbers are no name", svg.dataset.matched);
input.focus();
key("Escape");
say("escape", input.value + "|" + line("matched") + "|" + svg.querySelectorAll(".hit").length + "|" + svg.dataset.matched);
say("still zoomed", isShown("left"));
input.focus();
key("Escape");
say("escape again", isShown("left"));
"#;
    let Some(found) = in_page(&draw(&small(), &FlameGraphOptions::default()), driver) else { return };
    assert_found(
        &found,
        &[
            ("deep", "500 matched: 50.00 %"),
            ("hits", "3"),
            ("left|deep", "800"),
            ("main", "1000"),
            ("zoomed", "500 200 matched: 50.00 % of all, 50.00 % of the zoomed box"),
            ("above the zoomed box", "400"),
            ("beside the zoomed box", "600 0"),
            ("case", "0 matched: nothing"),
            ("no case", "500"),
            ("broken", "not a regular expression 0 true"),
            ("numbers are no name", "0"),
            ("escape", "||0|undefined"),
            ("still zoomed", "false"),
            ("escape again", "true"),
        ],
    );
}

#[test]
fn the_keyboard_does_what_the_mouse_does() {
    let driver = r#"
const current = () => svg.querySelector(".current")?.firstElementChild.textContent;
const area = svg.querySelector(".frames");
area.focus();
say("start", current());
key("ArrowUp"); key("ArrowUp");
say("widest", current());
key("ArrowRight");
say("right", current() + " " + line("details"));
key("Enter");
say("zoomed", rect("right"));
key("ArrowDown");
say("down", current());
key("ArrowUp");
say("up to the zoomed box", current());
key("ArrowLeft");
say("hidden is no neighbour", current());
key("Home");
say("home", rect("right"));
area.focus();
key("f", { ctrlKey: true });
say("ctrl-f", document.activeElement === input);
area.focus();
key("F3");
say("f3", document.activeElement === input);
tool("Reset zoom").focus();
click(group("right").children[1]);
key("Enter");
say("button", rect("right"));
"#;
    let Some(found) = in_page(&draw(&small(), &FlameGraphOptions::default()), driver) else { return };
    assert_found(
        &found,
        &[
            ("start", "all (1,000 samples; 100.00 %)"),
            ("widest", "left (600 samples; 60.00 %)"),
            ("right", "right (400 samples; 40.00 %) right (400 samples; 40.00 %)"),
            ("zoomed", "14.00 1171.20"),
            ("down", "main (1,000 samples; 100.00 %)"),
            ("up to the zoomed box", "right (400 samples; 40.00 %)"),
            ("hidden is no neighbour", "right (400 samples; 40.00 %)"),
            ("home", "717.20 468.00"),
            ("ctrl-f", "true"),
            ("f3", "true"),
            ("button", "717.20 468.00"),
        ],
    );
}

#[test]
fn hostile_names_run_nothing() {
    let attack = "</title></style></script>]]><script>window.ran=1;document.title='ran'</script><img src=x onerror='window.ran=1'>";
    let mut build = Build::plain();
    build.line(&format!("main;{}", attack.replace(';', ",")), 1, 1);
    let options = FlameGraphOptions {
        title: attack.into(),
        subtitle: vec![attack.into()],
        notes: format!("--> {attack}"),
        ..FlameGraphOptions::default()
    };
    let driver = r#"
hover(groups[2].children[1]);
click(groups[2].children[1]);
type("ran");
say("ran", window.ran);
say("title", document.title);
say("scripts", svg.querySelectorAll("script").length);
say("images", document.querySelectorAll("img").length);
say("name", groups[2].firstElementChild.textContent.startsWith("</title></style><" + "/script>]]" + "><script>"));
say("details", line("details").startsWith("</title>"));
"#;
    let Some(found) = in_page(&draw(&build.profile, &options), driver) else { return };
    assert_found(
        &found,
        &[
            ("ran", "undefined"),
            ("title", "page"),
            ("scripts", "1"),
            ("images", "0"),
            ("name", "true"),
            ("details", "true"),
        ],
    );
    let driver = driver
        .replace("document.title", "window.ran")
        .replace(r#"querySelectorAll("script")"#, r#"querySelectorAll("style")"#);
    let Some(found) = as_document(&draw(&build.profile, &options), &driver, "") else { return };
    assert_found(&found, &[("ran", "undefined"), ("scripts", "1"), ("images", "0"), ("name", "true")]);
}

#[test]
fn sums_beyond_53_bits_are_exact() {
    let mut build = Build::plain();
    build
        .line("a;one", i64::MAX as u64, 1)
        .line("a;two", i64::MAX as u64, 1)
        .line("a;three", u64::MAX, 1)
        .line("b", 3, 3);
    let options = FlameGraphOptions { min_width: 0.0, ..FlameGraphOptions::default() };
    let driver = r#"
type("one|two|b");
say("sum", svg.dataset.matched + " " + line("matched"));
type(".");
say("all", svg.dataset.matched + " " + line("matched"));
type("^b$");
say("little", line("matched"));
click(group("b").children[1]);
say("zoomed", rect("b"));
"#;
    let Some(found) = in_page(&draw(&build.profile, &options), driver) else { return };
    assert_found(
        &found,
        &[
            ("sum", "18446744073709551617 matched: 50.00 %"),
            ("all", "36893488147419103232 matched: 100.00 %"),
            ("little", "matched: <0.01 %"),
            ("zoomed", "14.00 1171.20"),
        ],
    );
}

#[test]
fn a_picture_that_is_the_document_keeps_its_state_in_the_address() {
    let profile = server();
    let driver = r#"
say("zoomed", rect("http::Router::handle"));
say("search", input.value + " " + line("matched"));
say("case", tool("Aa").getAttribute("aria-pressed"));
click(group("all").children[1]);
type("vfs_");
say("address", decodeURIComponent(location.hash.replace(/\+/g, " ")));
input.blur();
key("Escape");
say("escape", location.hash + input.value);
document.documentElement.dispatchEvent(new KeyboardEvent("keydown", { key: "F3", bubbles: true, cancelable: true }));
say("f3", document.activeElement === input);
"#;
    let svg = draw(&profile, &server_options(&profile));
    let (_, after) = svg
        .split_once("<title>http::Router::handle")
        .map(|(before, _)| before.rsplit_once("data-at=\"").unwrap())
        .unwrap();
    let at = after.split('"').next().unwrap().replace(' ', "+");
    let driver =
        driver.replace("key(\"Escape\")", "window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))");
    let Some(found) = as_document(&svg, &driver, &format!("#zoom={at}&search=SQLITE3%7Cserde&case=ignore")) else {
        return;
    };
    assert_found(
        &found,
        &[
            ("zoomed", "14.00 1171.20"),
            ("search", "SQLITE3|serde matched: 41.88 % of all, 85.93 % of the zoomed box"),
            ("case", "false"),
            ("address", "#search=vfs_&case=ignore"),
            ("escape", ""),
            ("f3", "true"),
        ],
    );
}

#[test]
fn three_thousand_frames_open_at_their_root() {
    let mut build = Build::plain();
    let frames: Vec<_> = (0..3_000).map(|n| build.location(&format!("f{n}"))).collect();
    build.push(None, StackEnd::Bottom, &frames, 7, 7);
    let driver = r#"
say("boxes", groups.length);
say("height", svg.height.baseVal.value);
say("root", groups[0].getBoundingClientRect().bottom <= innerHeight && scrollY > 50000);
click(group("f2999").children[1]);
say("zoomed", rect("f2999"));
type("f1500");
say("matched", svg.dataset.matched);
"#;
    let Some(found) = as_document(&draw(&build.profile, &FlameGraphOptions::default()), driver, "") else { return };
    assert_found(
        &found,
        &[("boxes", "3001"), ("height", "54098"), ("root", "true"), ("zoomed", "14.00 1171.20"), ("matched", "7")],
    );
    let icicle = FlameGraphOptions { root: RootSide::Top, ..FlameGraphOptions::default() };
    let driver = r#"say("scroll", scrollY); say("root", groups[0].getBoundingClientRect().top < 100);"#;
    let Some(found) = as_document(&draw(&build.profile, &icicle), driver, "") else { return };
    assert_found(&found, &[("scroll", "0"), ("root", "true")]);
}

#[test]
fn a_row_of_ten_thousand_boxes_opens() {
    let mut build = Build::plain();
    (0..10_000).for_each(|n| _ = build.line(&format!("main;leaf{n}"), 1, 1));
    let driver = r#"
say("boxes", groups.length);
type("leaf[0-4]");
say("matched", svg.dataset.matched);
click(group("leaf17").children[1]);
say("zoomed", rect("leaf17"));
say("event", line("matched"));
"#;
    let Some(found) = in_page(&draw(&build.profile, &FlameGraphOptions::default()), driver) else { return };
    assert_found(
        &found,
        &[
            ("boxes", "10002"),
            ("matched", "4445"),
            ("zoomed", "14.00 1171.20"),
            ("event", "matched: 44.45 % of all, 100.00 % of the zoomed box"),
        ],
    );
}
