/* What ties it together: the address says the state, the state is shown, what is chosen goes into the address. */

const controls = document.querySelectorAll("#controls [name]");
const headers = document.querySelectorAll("#rows th[data-sort]");
const title = document.title;
let state = null;
let scrolled = 0;

function show() {
  const before = state;
  state = stateOfAddress();
  const model = models.get(state.model);
  const found = hits(rowsOfModel(model), state);
  const opened = rowOf(state.open, model);
  if (before && !before.open && opened) scrolled = window.scrollY;
  document.getElementById("list").hidden = Boolean(opened);
  document.getElementById("reader").hidden = !opened;
  showControls();
  if (opened) showQuestion(opened, model, found, before);
  else showList(model, found, before);
  readAhead(model, () => state.search && show());
}

function showControls() {
  for (const control of controls) if (control.value !== state[control.name]) control.value = state[control.name];
  for (const header of headers) {
    if (header.dataset.sort === state.sort) header.setAttribute("aria-sort", state.order);
    else header.removeAttribute("aria-sort");
  }
  document.getElementById("clear").hidden = Object.entries(ALL).every(([name, value]) => state[name] === value);
}

function showList(model, found, before) {
  const [page, pages] = [pageOf(found, state), pagesOf(found)];
  document.title = title;
  document.querySelector("#rows tbody").replaceChildren(...rowsOfPage(found, state));
  say("count", countOf(found, model));
  say("place", `Page ${number(page)} of ${number(pages)}`);
  document.getElementById("earlier").disabled = page === 1;
  document.getElementById("later").disabled = page === pages;
  if (before?.open) returnTo(rowOf(before.open, model));
}

function countOf(found, model) {
  const unread = state.search && !allRead(model) ? "; the answers are still being searched" : "";
  return `${number(found.length)} of ${number(rowsOfModel(model).length)} questions${unread}`;
}

/* Says a text once: a reader's voice would repeat what is written anew. */
function say(id, text) {
  const place = document.getElementById(id);
  if (place.textContent !== text) place.textContent = text;
}

/* Back in the list: where one was, with the focus on what was open. */
function returnTo(row) {
  window.scrollTo(0, scrolled);
  document.getElementById(`row-${row?.place}`)?.focus({preventScroll: true});
}

function showQuestion(row, model, found, before) {
  document.title = `${row.question.question} – ${title}`;
  document.getElementById("ways").replaceChildren(...waysFrom(row, found));
  document.getElementById("models").replaceChildren(...modelsOf(row));
  if (before?.open === state.open && before.model === state.model && before.models === state.models) return;
  const shown = state.models === "all" ? modelsAsked(row) : [model];
  document.getElementById("body").replaceChildren(...questionNodes(row, shown));
  if (!before) return;
  window.scrollTo(0, 0);
  document.getElementById("question").focus({preventScroll: true});
}

function waysFrom(row, found) {
  const at = found.indexOf(row);
  const page = String(Math.floor(Math.max(at, 0) / ROWS) + 1);
  const open = (neighbour) => ({open: neighbour.question.question_id});
  const place = at < 0 ? "not among what is listed" : `${number(at + 1)} of ${number(found.length)}`;
  return [
    way("↑ To the list", {page, open: ""}),
    at > 0 ? way("← Previous", open(found[at - 1])) : "",
    at >= 0 && at + 1 < found.length ? way("Next →", open(found[at + 1])) : "",
    element("li", {class: "note"}, place),
  ];
}

/* The models that answered the question, and all of them side by side; what is read is marked. */
function modelsOf(row) {
  const all = state.models === "all";
  const current = (is) => (is ? {"aria-current": "true"} : {});
  const asked = modelsAsked(row);
  const ways = asked.map(({name}) =>
    way(foreign(name), {model: name, models: ""}, current(!all && name === state.model)),
  );
  return asked.length > 1 ? [...ways, way("side by side", {models: "all"}, current(all))] : ways;
}

function modelsAsked(row) {
  return [...models.values()].filter((model) => rowOf(row.question.question_id, model));
}

function way(said, change, attributes = {}) {
  return element("li", {}, element("a", {href: addressOf({...state, ...change}), ...attributes}, said));
}

function go(change, how = "pushState") {
  history[how](null, "", addressOf({...state, page: "1", ...change}));
  show();
}

function inOrder(sort) {
  return {sort, order: sort === "question" ? "ascending" : "descending"};
}

function turned(sort) {
  if (sort !== state.sort) return inOrder(sort);
  return {order: state.order === "ascending" ? "descending" : "ascending"};
}

function turnPage(by) {
  const found = hits(rowsOfModel(models.get(state.model)), state);
  go({page: String(pageOf(found, state) + by)});
  document.getElementById("rows").scrollIntoView();
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
  for (const name of ["model", "partition", "relation", "outcome", "under", "judge", "order", ...Object.keys(OF_COLUMNS)]) {
    whenever(name, "change", ({target}) => go({[name]: target.value}));
  }
  whenever("sort", "change", ({target}) => go(inOrder(target.value)));
  for (const header of headers) header.addEventListener("click", () => go(turned(header.dataset.sort)));
  whenever("clear", "click", showAll);
  whenever("earlier", "click", () => turnPage(-1));
  whenever("later", "click", () => turnPage(1));
  window.addEventListener("hashchange", show);
  history.scrollRestoration = "manual";
  document.getElementById("answers").hidden = false;
  show();
}

start();
