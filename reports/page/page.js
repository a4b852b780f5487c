"use strict";
// Shows the numbers of the mark under the pointer, and rings the marks of its item in every figure. No text is markup.
const NEAR = 9;
const names = JSON.parse(document.getElementById("names").textContent);
const tip = document.body.appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;
const figures = [...document.querySelectorAll("figure script")].map((block) => {
  const picture = block.closest("figure").querySelector(".picture");
  const rings = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  rings.setAttribute("class", "rings");
  rings.setAttribute("aria-hidden", "true");
  picture.append(rings);
  return { picture, rings, ...JSON.parse(block.textContent) };
});

function nearest(figure, event) {
  const box = figure.picture.getBoundingClientRect();
  const scale = box.width / figure.size[0];
  let best = null;
  let least = NEAR;
  for (const mark of figure.marks) {
    const away = Math.hypot(mark[0] * scale - (event.clientX - box.left), mark[1] * scale - (event.clientY - box.top));
    if (away < least) [best, least] = [mark, away];
  }
  return best;
}

function ring(figure, marks) {
  figure.rings.setAttribute("viewBox", `0 0 ${figure.size[0]} ${figure.size[1]}`);
  figure.rings.replaceChildren(...marks.map(([x, y]) => {
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [name, value] of [["cx", x], ["cy", y], ["r", 5.5]]) circle.setAttribute(name, value);
    return circle;
  }));
}

function line(head, text) {
  const row = document.createElement("div");
  row.textContent = head ? `${head}: ${text}` : text;
  return row;
}

function show(figure, mark, event) {
  const [item, ...cells] = figure.rows[mark[2]];
  const name = figure.items[item];
  const lines = cells.map((text, at) => text && line(figure.heads[at], text)).filter(Boolean);
  tip.replaceChildren(...(name in names ? [line("", names[name])] : []), ...lines);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${event.clientY + 14 + height > innerHeight ? Math.max(4, event.clientY - height - 14) : event.clientY + 14}px`;
  for (const other of figures) {
    const same = other === figure ? [mark] : [];
    const number = other.items.indexOf(name);
    ring(other, number < 0 ? same : other.marks.filter((one) => other.rows[one[2]][0] === number));
  }
}

function hide() {
  if (tip.hidden) return;
  tip.hidden = true;
  for (const figure of figures) ring(figure, []);
}

for (const figure of figures) {
  const point = (event) => {
    const mark = nearest(figure, event);
    if (mark) show(figure, mark, event);
    else hide();
  };
  for (const kind of ["pointermove", "pointerdown"]) figure.picture.addEventListener(kind, point);
  figure.picture.addEventListener("pointerleave", hide);
}
addEventListener("scroll", hide, { passive: true });
addEventListener("keydown", (event) => event.key === "Escape" && hide());

function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();
