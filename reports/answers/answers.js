/* The page: its address has the state, `show` shows this state, and every choice of the reader changes the address. */

const controls = document.querySelectorAll("#controls [name]");
const title = document.title;
const WIDE = 700;
let state = null;
let found = [];
let scrolled = 0;

function show() {
  const before = state;
  state = stateOfAddress();
  const model = models.get(state.model);
  found = hits(rowsOfModel(model), state);
  const opened = rowOf(state.open, model);
  if (before && !before.open && opened) scrolled = window.scrollY;
  document.getElementById("list").hidden = Boolean(opened);
  document.getElementById("reader").hidden = !opened;
  showControls();
  if (opened) showQuestion(opened, before);
  else showList(model, before);
  readAhead(model, () => state.search && !state.open && show());
}

function showControls() {
  for (const control of controls) if (control.value !== state[control.name]) control.value = state[control.name];
  document.getElementById("clear").hidden = Object.entries(ALL).every(([name, value]) => state[name] === value);
}

function showList(model, before) {
  document.title = title;
  showRows(found.length, (at) => listed(found[at], at, found.length, state));
  say("count", countOf(model));
  const at = found.findIndex(({question}) => question.question_id === state.at);
  if (before?.open) window.scrollTo({top: scrolled, behavior: "instant"});
  drawRows();
  if (at >= 0 && (!before || before.open)) rowInSight(at).focus({preventScroll: true});
}

function countOf(model) {
  const unread = state.search && !allRead(model) ? "; the answers are still being searched" : "";
  return `${number(found.length)} of ${number(rowsOfModel(model).length)} questions${unread}`;
}

/* Writes a text only if it is new, because a screen reader speaks every text that is written. */
function say(id, text) {
  const place = document.getElementById(id);
  if (place.textContent !== text) place.textContent = text;
}

function showQuestion(row, before) {
  document.title = `${row.question.question} – ${title}`;
  document.getElementById("ways").replaceChildren(...waysFrom(row));
  document.getElementById("models").replaceChildren(...modelsOf(row));
  if (before?.open === state.open && before.model === state.model && before.beside === state.beside) return;
  const shown = shownModels(state).filter((model) => rowOfOther(row, model));
  document.getElementById("body").replaceChildren(...questionNodes(row, shown));
  if (!before) return;
  window.scrollTo({top: 0, behavior: "instant"});
  document.getElementById("question").focus({preventScroll: true});
}

function waysFrom(row) {
  const at = found.indexOf(row);
  const place = at < 0 ? "not among what is listed" : `${number(at + 1)} of ${number(found.length)}`;
  return [
    way("↑ To the list", toList(row)),
    at > 0 ? way("← Previous", opening(found[at - 1])) : "",
    at >= 0 && at + 1 < found.length ? way("Next →", opening(found[at + 1])) : "",
    element("li", {class: "note"}, place),
  ];
}

function opening({question}) {
  return {open: question.question_id, at: question.question_id};
}

function toList({question}) {
  return {open: "", at: question.question_id};
}

/* Links to the models that answered the question, and to all of them side by side; the shown one is marked. */
function modelsOf(row) {
  const all = state.beside === "all";
  const current = (is) => (is ? {"aria-current": "true"} : {});
  const asked = [...models.values()].filter((model) => rowOfOther(row, model));
  const ways = asked.map((model) =>
    way(foreign(model.name), {model: model.name, beside: ""}, current(!all && model.name === state.model)),
  );
  return asked.length > 1 ? [...ways, way("side by side", {beside: "all"}, current(all))] : ways;
}

function way(said, change, attributes = {}) {
  return element("li", {}, element("a", {href: addressOf({...state, ...change}), ...attributes}, said));
}

function go(change, how = "pushState") {
  history[how](null, "", addressOf({...state, ...change}));
  show();
}

function inOrder(sort) {
  return {sort, order: sort === "question" ? "ascending" : "descending"};
}

function showAll() {
  go(ALL);
  document.getElementById("search").focus();
}

function whenever(id, event, work) {
  document.getElementById(id).addEventListener(event, work);
}

function start() {
  whenever("search", "input", ({target}) => go({search: target.value}, "replaceState"));
  for (const {name} of controls) {
    if (name === "sort") whenever(name, "change", ({target}) => go(inOrder(target.value)));
    else if (name !== "search") whenever(name, "change", ({target}) => go({[name]: target.value}));
  }
  whenever("clear", "click", showAll);
  whenever("save-csv", "click", () => save("csv"));
  whenever("save-judgements", "click", saveJudgements);
  whenever("discard-judgements", "click", discardJudgements);
  showJudgements();
  whenever("save-jsonl", "click", () => save("jsonl"));
  document.addEventListener("keydown", onKey);
  feed.addEventListener("focusin", ({target}) => keepPlace(target.closest("article")));
  addEventListener("hashchange", show);
  document.getElementById("filters").open = innerWidth >= WIDE;
  history.scrollRestoration = "manual";
  document.getElementById("answers").hidden = false;
  show();
}

start();
