/* The list in a window: only the rows in sight, and a few before and behind them, are in the document. All other rows
   are empty room: of their height if they were in sight before, otherwise of an estimated height. */

const MOST_PRINTED = 500;
const BESIDE = 700;
const ESTIMATE = 150;
const feed = document.getElementById("rows");
const windowed = {count: 0, make: null, heights: new Float64Array(0), tops: new Float64Array(1), nodes: new Map()};

/* Replaces all rows; `make` makes the row at a position from 0 to count - 1. */
function showRows(count, make) {
  const known = windowed.heights.filter((height) => height > 0);
  const estimate = known.length ? known.reduce((sum, height) => sum + height, 0) / known.length : ESTIMATE;
  feed.replaceChildren();
  windowed.nodes.clear();
  Object.assign(windowed, {count, make, estimate, heights: new Float64Array(count), tops: new Float64Array(count + 1)});
  stack();
  drawRows();
}

/* Where each row begins. */
function stack() {
  const {count, heights, tops, estimate} = windowed;
  for (let at = 0; at < count; at++) tops[at + 1] = tops[at] + (heights[at] || estimate);
}

/* The first row that ends below a height of the list. */
function placeAt(height) {
  let [low, high] = [0, windowed.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (windowed.tops[middle + 1] > height) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Puts the rows in sight into the document. The first row in sight does not move, although rows before it may turn out
   to be higher or lower than estimated. */
function drawRows() {
  if (!feed.offsetParent) return;
  for (let round = 0; round < 4; round++) {
    const top = -feed.getBoundingClientRect().top;
    const looked = placeAt(Math.max(0, top));
    const from = placeAt(top - BESIDE);
    const to = Math.min(windowed.count, placeAt(top + innerHeight + BESIDE) + 1);
    const before = windowed.tops[looked];
    put(from, to);
    const settled = !measure(from, to);
    feed.style.paddingTop = `${windowed.tops[from]}px`;
    feed.style.paddingBottom = `${windowed.tops[windowed.count] - windowed.tops[to]}px`;
    const moved = windowed.tops[looked] - before;
    if (moved && top > 0) window.scrollBy({top: moved, behavior: "instant"});
    if (settled) return;
  }
}

function put(from, to) {
  for (const [at, node] of windowed.nodes) {
    if (at >= from && at < to) continue;
    node.remove();
    windowed.nodes.delete(at);
  }
  let next = feed.firstElementChild;
  for (let at = from; at < to; at++) {
    const node = windowed.nodes.get(at);
    if (node) {
      next = node.nextElementSibling;
      continue;
    }
    const made = windowed.make(at);
    feed.insertBefore(made, next);
    windowed.nodes.set(at, made);
  }
}

/* Measures the rows in the document; true if a row has another height than before. */
function measure(from, to) {
  let changed = false;
  for (let at = from; at < to; at++) {
    const {height} = windowed.nodes.get(at).getBoundingClientRect();
    if (Math.abs(height - windowed.heights[at]) < 0.5) continue;
    windowed.heights[at] = height;
    changed = true;
  }
  if (changed) stack();
  return changed;
}

/* Brings a row into sight, and returns its node. */
function rowInSight(at) {
  const edge = 12;
  const start = feed.getBoundingClientRect().top + windowed.tops[at];
  if (start < 0 || start + (windowed.heights[at] || windowed.estimate) > innerHeight) {
    window.scrollBy({top: start - innerHeight / 4, behavior: "instant"});
    drawRows();
  }
  const node = windowed.nodes.get(at);
  const {top, bottom} = node.getBoundingClientRect();
  const over = top < edge ? top - edge : Math.max(0, Math.min(bottom - innerHeight + edge, top - edge));
  if (over) window.scrollBy({top: over, behavior: "instant"});
  drawRows();
  return windowed.nodes.get(at);
}

/* The position of the first row whose upper end is in sight. */
function firstInSight() {
  const top = Math.max(0, -feed.getBoundingClientRect().top);
  const at = placeAt(top);
  return Math.min(windowed.count - 1, windowed.tops[at] < top - 1 ? at + 1 : at);
}

let drawing = false;
function drawSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawRows();
  });
}

addEventListener("scroll", drawSoon, {passive: true});
addEventListener("resize", () => {
  windowed.heights.fill(0);
  drawSoon();
});

/* Puts all rows into the document before it is printed, or as many as a browser prints in a moment. */
addEventListener("beforeprint", () => {
  if (!feed.offsetParent) return;
  const {count} = windowed;
  put(0, Math.min(count, MOST_PRINTED));
  feed.style.padding = "0";
  feed.dataset.more = count > MOST_PRINTED ? `The first ${MOST_PRINTED} of ${count} questions; search or choose fewer to print others.` : "";
});
addEventListener("afterprint", () => {
  feed.style.padding = "";
  drawRows();
});
