/* The list: fifty rows of what was found. */

const ROWS = 50;
const CONDITIONS = {none: "no context", original: "original context", counter_memory: "counter-memory context"};
const CONTEXTS = ["original", "counter_memory"];

function rowsOfPage(found, state) {
  const start = (pageOf(found, state) - 1) * ROWS;
  return found.slice(start, start + ROWS).map((row) => listed(row, state));
}

function pagesOf(found) {
  return Math.max(1, Math.ceil(found.length / ROWS));
}

function pageOf(found, state) {
  return Math.min(Math.max(1, Number.parseInt(state.page, 10) || 1), pagesOf(found));
}

/* The roles are said because a narrow window lays rows out as cards: a browser then forgets that they are a table. */
function listed(row, state) {
  const cell = (measure, text) => element("td", {role: "cell", class: measure}, text);
  return element(
    "tr",
    {role: "row"},
    headOf(row, state),
    Object.keys(CONDITIONS).map((name) => cell("entropy", nats(row[`entropy_${name}`]))),
    CONTEXTS.map((name) => cell("persuasion", nats(row[`persuasion_${name}`]))),
    CONTEXTS.map((name) => cell("outcome", outcomeOf(row[`outcome_${name}`]))),
  );
}

function headOf(row, state) {
  const {question_id: id, question, relation, partition, object, replacement} = row.question;
  const changed = [foreign(object), " → ", foreign(replacement)];
  return element(
    "th",
    {role: "rowheader", scope: "row"},
    element("a", {href: addressOf({...state, open: id}), id: `row-${row.place}`}, foreign(question)),
    element("span", {class: "about"}, key(partition), " · ", foreign(relation), " · ", changed),
  );
}

function key(partition) {
  return foreign(partition, "span", {class: `key ${partition}`});
}

function outcomeOf(outcome) {
  return outcome ? `${OUTCOME_MARKS[outcome]}${outcome}` : "–";
}
