// @ts-check
// Zoom, search and keyboard for a flame graph that is complete without it. The picture's boxes
// are read back from the document: `data-at` holds a box's row, start and width in the samples'
// own integers, which may exceed 2^53 and are therefore BigInts; pixels are computed last.
(function () {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const XHTML = "http://www.w3.org/1999/xhtml";
  const HINT = "Point at a box for details. Click to zoom, Ctrl-F to search, Escape to go back.";

  const script = /** @type {SVGScriptElement | null} */ (document.currentScript);
  const svg = /** @type {SVGSVGElement} */ (script ? script.closest("svg") : document.documentElement);
  const standalone = svg.isSameNode(document.documentElement);

  /**
   * @template {Element} T
   * @param {string} selector
   * @returns {T}
   */
  function part(selector) {
    const found = svg.querySelector(selector);
    if (!found) throw new Error("the picture has no " + selector);
    return /** @type {T} */ (found);
  }
  const area = /** @type {SVGGElement} */ (part(".frames"));
  const head = /** @type {SVGGElement} */ (part(".head"));
  const details = /** @type {SVGTextElement} */ (part(".details"));
  const matchedText = /** @type {SVGTextElement} */ (part("text.matched"));

  const margin = Number(svg.dataset.margin);
  const column = Number(svg.dataset.column);
  const padding = Number(svg.dataset.padding);
  const width = svg.viewBox.baseVal.width;
  const inner = width - 2 * margin;

  // ── The boxes ──────────────────────────────────────────────────────────────────────────────

  /**
   * A box. `parent` and `end` are indices; the boxes above it are those from its own index + 1
   * to `end`, since boxes stand in the document depth first.
   * @typedef {object} Box
   * @property {SVGGElement} group
   * @property {SVGRectElement} rect
   * @property {SVGTextElement | null} text
   * @property {string} label what hovering shows
   * @property {string} name the label without its numbers
   * @property {number} depth
   * @property {bigint} start
   * @property {bigint} width
   * @property {number} parent
   * @property {number} end
   */

  /** @type {Box[]} */
  const boxes = [];
  /** @type {Map<Element, number>} */
  const indexOf = new Map();
  /** @type {number[]} */
  const open = [];
  for (const child of Array.from(area.children)) {
    const group = /** @type {SVGGElement} */ (child);
    const [depth, start, size] = (group.dataset.at || "0 0 0").split(" ");
    const label = (group.firstElementChild && group.firstElementChild.textContent) || "";
    const index = boxes.length;
    const row = Number(depth);
    while (open.length > row) boxes[/** @type {number} */ (open.pop())].end = index;
    boxes.push({
      group,
      rect: /** @type {SVGRectElement} */ (group.children[1]),
      text: /** @type {SVGTextElement | null} */ (group.children[2] || null),
      label,
      name: label.slice(0, label.lastIndexOf(" (")),
      depth: row,
      start: BigInt(start),
      width: BigInt(size),
      parent: open.length ? open[open.length - 1] : -1,
      end: 0,
    });
    indexOf.set(group, index);
    open.push(index);
  }
  while (open.length) boxes[/** @type {number} */ (open.pop())].end = boxes.length;
  const total = boxes[0].width;

  /**
   * @param {Box} box
   * @param {number} x
   * @param {number} size
   */
  function place(box, x, size) {
    box.rect.setAttribute("x", x.toFixed(2));
    box.rect.setAttribute("width", (size > 3 ? size - 0.8 : size).toFixed(2));
    const columns = Math.floor((size - padding) / column);
    const shown = columns < 4 ? "" : fit(box.name, columns);
    if (!box.text) {
      if (!shown) return;
      box.text = document.createElementNS(SVG, "text");
      box.text.setAttribute("y", String(Number(box.rect.getAttribute("y")) + 12.5));
      box.group.append(box.text);
    }
    box.text.setAttribute("x", (x + padding / 2).toFixed(2));
    box.text.textContent = shown;
  }

  /**
   * The columns that a character takes; the same rule drew the picture.
   * @param {number} code
   */
  function columnsOf(code) {
    const wide =
      (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) || code >= 0x20000;
    return wide ? 2 : 1;
  }

  /**
   * @param {string} text
   * @param {number} columns
   */
  function fit(text, columns) {
    let used = 0;
    let short = "";
    for (const character of text) {
      used += columnsOf(/** @type {number} */ (character.codePointAt(0)));
      if (used > columns) return short && short + "..";
      if (used <= columns - 2) short += character;
    }
    return text;
  }

  // ── Zoom ───────────────────────────────────────────────────────────────────────────────────

  let zoomed = 0;

  /** @param {number} index */
  function zoom(index) {
    const to = boxes[index];
    const ancestors = new Set();
    for (let at = to.parent; at >= 0; at = boxes[at].parent) ancestors.add(at);
    boxes.forEach((box, at) => {
      const inside = at >= index && at < to.end;
      const faded = ancestors.has(at);
      box.group.classList.toggle("away", !inside && !faded);
      box.group.classList.toggle("faded", faded);
      if (faded) place(box, margin, inner);
      // The difference is taken in integers: close boxes of a huge total stay apart.
      else if (inside) place(box, margin + share(box.start - to.start, to.width) * inner, share(box.width, to.width) * inner);
    });
    zoomed = index;
    setState(reset, "aria-disabled", index === 0);
    showMatched();
    remember();
  }

  /**
   * @param {bigint} part
   * @param {bigint} whole
   */
  function share(part, whole) {
    return Number(part) / Number(whole);
  }

  // ── Search ─────────────────────────────────────────────────────────────────────────────────

  let pattern = "";
  let ignoreCase = false;
  /** @type {Box[]} */
  let hits = [];

  /** @param {string} wanted */
  function search(wanted) {
    pattern = wanted;
    /** @type {RegExp | null} */
    let expression = null;
    let broken = false;
    try {
      expression = wanted ? new RegExp(wanted, ignoreCase ? "i" : "") : null;
    } catch {
      broken = true;
    }
    setState(input, "aria-invalid", broken);
    hits = expression ? boxes.filter((box) => /** @type {RegExp} */ (expression).test(box.name)) : [];
    const hit = new Set(hits);
    boxes.forEach((box) => box.group.classList.toggle("hit", hit.has(box)));
    svg.classList.toggle("searching", expression !== null);
    showMatched();
    if (broken) matchedText.textContent = "not a regular expression";
    remember();
  }

  /**
   * How much of a box the hits cover. A hit below or above it counts; one inside another does
   * not count again. Hits come depth first, so that their starts never decrease.
   * @param {Box} box
   */
  function covered(box) {
    const end = box.start + box.width;
    let sum = 0n;
    let from = box.start;
    for (const hit of hits) {
      const start = hit.start > from ? hit.start : from;
      const stop = hit.start + hit.width < end ? hit.start + hit.width : end;
      if (stop > start) {
        sum += stop - start;
        from = stop;
      }
    }
    return sum;
  }

  /**
   * @param {bigint} part
   * @param {bigint} whole
   */
  function percent(part, whole) {
    const hundredths = (part * 20000n + whole) / (2n * whole);
    if (part > 0n && hundredths === 0n) return "<0.01 %";
    return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, "0")} %`;
  }

  function showMatched() {
    if (!svg.classList.contains("searching")) {
      matchedText.textContent = "";
      delete svg.dataset.matched;
      delete svg.dataset.matchedZoomed;
      return;
    }
    const ofAll = covered(boxes[0]);
    const ofZoomed = covered(boxes[zoomed]);
    svg.dataset.matched = String(ofAll);
    svg.dataset.matchedZoomed = String(ofZoomed);
    let text = hits.length ? `matched: ${percent(ofAll, total)}` : "matched: nothing";
    if (hits.length && zoomed) text += ` of all, ${percent(ofZoomed, boxes[zoomed].width)} of the zoomed box`;
    matchedText.textContent = text;
    if (Number(svg.dataset.pruned)) tooltip(matchedText, "Boxes too narrow to be drawn are not searched.");
  }

  // ── Details ────────────────────────────────────────────────────────────────────────────────

  /** @param {number} index -1 for none */
  function showDetails(index) {
    const box = boxes[index];
    details.classList.toggle("hint", !box);
    let text = box ? box.label : HINT;
    if (box && zoomed && index > zoomed && index < boxes[zoomed].end) {
      text = text.slice(0, -1) + `; ${percent(box.width, boxes[zoomed].width)} of the zoomed box)`;
    }
    const room = matchedText.textContent ? inner - matchedText.getComputedTextLength() - 24 : inner;
    details.textContent = fit(text, Math.floor(room / 6.9));
  }

  // ── Tools ──────────────────────────────────────────────────────────────────────────────────

  /**
   * @param {string} label
   * @param {string} hint
   * @param {number} x
   * @param {number} size
   * @param {() => void} act
   */
  function button(label, hint, x, size, act) {
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", "tool");
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
    group.setAttribute("aria-label", hint);
    const rect = document.createElementNS(SVG, "rect");
    const text = document.createElementNS(SVG, "text");
    for (const [name, value] of Object.entries({ x, y: 13, width: size, height: 24 })) rect.setAttribute(name, String(value));
    text.setAttribute("x", String(x + size / 2));
    text.setAttribute("y", "29");
    text.textContent = label;
    group.append(rect, text);
    tooltip(group, hint);
    group.addEventListener("click", act);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    head.append(group);
    return group;
  }

  /**
   * @param {Element} element
   * @param {string} text
   */
  function tooltip(element, text) {
    const title = document.createElementNS(SVG, "title");
    title.textContent = text;
    element.append(title);
  }

  /**
   * @param {Element} element
   * @param {string} name
   * @param {boolean} state
   */
  function setState(element, name, state) {
    element.setAttribute(name, String(state));
  }

  const right = width - margin;
  const reset = button("Reset zoom", "Show everything (Home)", right - 84, 84, () => zoom(0));
  const caseTool = button("Aa", "Tell upper and lower case apart", right - 122, 32, () => {
    ignoreCase = !ignoreCase;
    setState(caseTool, "aria-pressed", !ignoreCase);
    search(pattern);
  });
  setState(caseTool, "aria-pressed", true);
  setState(reset, "aria-disabled", true);
  const searchTool = button("Search", "Search by regular expression (Ctrl-F or F3)", right - 352, 58, focusSearch);
  searchTool.classList.add("search");

  const field = document.createElementNS(SVG, "foreignObject");
  for (const [name, value] of Object.entries({ x: right - 288, y: 13, width: 160, height: 24 })) {
    field.setAttribute(name, String(value));
  }
  const input = /** @type {HTMLInputElement} */ (document.createElementNS(XHTML, "input"));
  input.setAttribute("type", "text");
  input.setAttribute("placeholder", "regular expression");
  input.setAttribute("aria-label", "Search by regular expression");
  input.setAttribute("spellcheck", "false");
  input.setAttribute("autocomplete", "off");
  input.addEventListener("input", () => search(input.value));
  field.append(input);
  head.append(field);

  function focusSearch() {
    input.focus();
    input.select();
  }

  function clearSearch() {
    input.value = "";
    search("");
  }

  // ── Mouse and keyboard ─────────────────────────────────────────────────────────────────────

  let current = -1;

  /** @param {number} index */
  function setCurrent(index) {
    if (boxes[current]) boxes[current].group.classList.remove("current");
    current = index;
    if (!boxes[index]) return;
    boxes[index].group.classList.add("current");
    if (standalone) boxes[index].rect.scrollIntoView({ block: "nearest" });
    showDetails(index);
  }

  /** @param {Event} event */
  function boxAt(event) {
    const group = event.target instanceof Element ? event.target.closest(".frames > g") : null;
    const index = group ? indexOf.get(group) : undefined;
    return index === undefined ? -1 : index;
  }

  area.addEventListener("mouseover", (event) => showDetails(boxAt(event)));
  area.addEventListener("mouseleave", () => showDetails(current));
  area.addEventListener("click", (event) => {
    const index = boxAt(event);
    if (index < 0) return;
    setCurrent(-1);
    zoom(index);
    showDetails(index);
  });

  /**
   * The box that an arrow key leads to. Up and down are as seen: where the root lies at the
   * bottom, up leads to a callee.
   * @param {string} key
   */
  function neighbour(key) {
    const box = boxes[current];
    const toCallee = svg.dataset.root === "bottom" ? "ArrowUp" : "ArrowDown";
    /** @param {number} index */
    const shown = (index) => index >= 0 && index < boxes.length && !boxes[index].group.classList.contains("away");
    if (key === "ArrowUp" || key === "ArrowDown") {
      if (key !== toCallee) return shown(box.parent) ? box.parent : current;
      const ancestor = current < zoomed && zoomed < box.end;
      const widest = ancestor ? onTheWay(current) : widestChild(current);
      return shown(widest) ? widest : current;
    }
    const siblings = childrenOf(box.parent);
    const next = siblings[siblings.indexOf(current) + (key === "ArrowRight" ? 1 : -1)];
    return next !== undefined && shown(next) ? next : current;
  }

  /** @param {number} index */
  function childrenOf(index) {
    /** @type {number[]} */
    const children = [];
    if (index < 0) return children;
    for (let at = index + 1; at < boxes[index].end; at = boxes[at].end) children.push(at);
    return children;
  }

  /** @param {number} index */
  function widestChild(index) {
    return childrenOf(index).reduce((best, at) => (best < 0 || boxes[at].width > boxes[best].width ? at : best), -1);
  }

  /**
   * The child of an ancestor that leads to the zoomed box.
   * @param {number} index
   */
  function onTheWay(index) {
    return childrenOf(index).find((at) => at <= zoomed && zoomed < boxes[at].end) ?? -1;
  }

  area.setAttribute("tabindex", "0");
  area.setAttribute("aria-label", "boxes: arrow keys move, Enter zooms");
  area.addEventListener("focus", () => {
    if (current < 0 && area.matches(":focus-visible")) setCurrent(zoomed);
  });
  area.addEventListener("blur", () => setCurrent(-1));
  area.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.startsWith("Arrow")) {
      setCurrent(current < 0 ? zoomed : neighbour(event.key));
    } else if (event.key === "Enter" && current >= 0) {
      zoom(current);
    } else if (event.key === "Home") {
      zoom(0);
      setCurrent(0);
    } else {
      return;
    }
    event.preventDefault();
  });

  /** @param {KeyboardEvent} event */
  function shortcut(event) {
    const find = event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f");
    // A second Ctrl-F is left to the browser's own search.
    if (find && document.activeElement !== input) {
      event.preventDefault();
      focusSearch();
    } else if (event.key === "Escape") {
      if (pattern || input.value) clearSearch();
      else if (zoomed) zoom(0);
      input.blur();
    }
  }
  // Inside a page the keys belong to the page until the picture has the focus.
  (standalone ? window : svg).addEventListener("keydown", (event) => shortcut(/** @type {KeyboardEvent} */ (event)));

  // ── The address, and pictures taller than the window: only where the picture is the document ─

  let restoring = false;

  function remember() {
    if (!standalone || restoring) return;
    const state = new URLSearchParams();
    const box = boxes[zoomed];
    if (zoomed) state.set("zoom", `${box.depth} ${box.start} ${box.width}`);
    if (pattern) state.set("search", pattern);
    if (pattern && ignoreCase) state.set("case", "ignore");
    try {
      history.replaceState(null, "", "#" + state);
    } catch {
      // Some hosts forbid it; the picture works all the same.
    }
  }

  function restore() {
    restoring = true;
    const state = new URLSearchParams(location.hash.slice(1));
    const wanted = state.get("zoom");
    zoom(wanted ? Math.max(boxes.findIndex((box) => box.group.dataset.at === wanted), 0) : 0);
    ignoreCase = state.get("case") === "ignore";
    setState(caseTool, "aria-pressed", !ignoreCase);
    input.value = state.get("search") || "";
    search(input.value);
    restoring = false;
  }

  function followScroll() {
    head.setAttribute("transform", `translate(0 ${Math.max(window.scrollY, 0)})`);
  }

  svg.classList.add("live");
  showDetails(-1);
  if (standalone) {
    window.addEventListener("hashchange", restore);
    window.addEventListener("scroll", followScroll, { passive: true });
    if (location.hash.length > 1) restore();
    // Flames start at the bottom: there lies the root.
    if (svg.dataset.root === "bottom") window.scrollTo(0, svg.height.baseVal.value);
    followScroll();
  }
})();
