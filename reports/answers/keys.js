/* Keys: j and k, or arrows, go to the next and the previous row, / goes to the search, Enter opens, Escape goes back. */

const STEPS = {j: 1, k: -1, ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1};
const TYPED_INTO = "input, select, textarea";

function onKey(event) {
  const {key, target} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const work = target.matches(TYPED_INTO) ? keyInField(key, target) : keyOnPage(key, target);
  if (!work) return;
  event.preventDefault();
  work();
}

function keyInField(key, field) {
  return key === "Escape" && field.id === "search" ? () => focusRow(firstInSight()) : null;
}

function keyOnPage(key, target) {
  if (key === "/") return toSearch;
  return state.open ? keyOnQuestion(key) : keyInList(key, target);
}

function keyOnQuestion(key) {
  const row = rowOf(state.open, models.get(state.model));
  const next = found[found.indexOf(row) + STEPS[key]];
  if (key === "Escape") return () => go(toList(row));
  if (!(key in STEPS) || key === "ArrowDown" || key === "ArrowUp" || !next || !found.includes(row)) return null;
  return () => go(opening(next));
}

/* Arrows go from row to row once a row has the focus; before that, they scroll. */
function keyInList(key, target) {
  const row = target.closest?.("#rows article");
  if (key === "Enter" && row === target) return () => row.querySelector("a").click();
  if (!(key in STEPS) || key === "ArrowRight" || key === "ArrowLeft") return null;
  if (key.startsWith("Arrow") && !row) return null;
  return () => {
    const at = found.findIndex(({question}) => question.question_id === state.at);
    const isSeen = windowed.nodes.has(at);
    focusRow(isSeen ? at + STEPS[key] : firstInSight());
  };
}

function focusRow(at) {
  if (at < 0 || at >= found.length) return;
  rowInSight(at).focus({preventScroll: true});
}

function toSearch() {
  if (state.open) go({open: ""});
  window.scrollTo({top: 0, behavior: "instant"});
  document.getElementById("search").focus();
  document.getElementById("search").select();
}

/* Puts the row with the focus into the address, so that a link to the page, and Back, lead to this row. */
function keepPlace(article) {
  const row = found[article?.ariaPosInSet - 1];
  if (!row || row.question.question_id === state.at) return;
  state.at = row.question.question_id;
  history.replaceState(null, "", addressOf(state));
}
