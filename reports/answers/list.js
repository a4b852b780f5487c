/* The list: fifty rows of what was found. */

const ROWS = 50;
const OUTCOME_MARKS = {persuaded: "▲ ", agreed: "◆ ", stubborn: "■ ", other: ""};
const MEASURES = [
  {measure: "entropy", title: "Semantic entropy (nats)", names: Object.keys(CONDITIONS), said: natsOf},
  {measure: "persuasion", title: "Coherent persuasion (nats)", names: CONTEXTS, said: natsOf},
  {measure: "outcome", title: "Outcome", names: CONTEXTS, said: outcomesOf},
];

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

/* The heads of the columns, and shorter ones for a narrow window. The roles are said because that lays rows out as
   cards: a browser then forgets that they are a table. */
function headsOfList() {
  const tr = (...cells) => element("tr", {role: "row"}, cells);
  const th = (said, more = {}) => element("th", {role: "columnheader", scope: "col", ...more}, said);
  const sorting = (sort, said) => th(element("button", {type: "button"}, said), {"data-sort": sort});
  const empty = () => element("td", {role: "cell"});
  const narrow = tr(empty(), ...Object.keys(CONDITIONS).map((name) => th(short(name))));
  narrow.className = "narrow";
  return [
    tr(empty(), ...MEASURES.map(({title, names}) => th(title, {scope: "colgroup", colspan: names.length}))),
    tr(
      sorting("question", "question"),
      ...MEASURES.flatMap(({measure, names}) =>
        names.map((name) => (measure === "outcome" ? th(short(name)) : sorting(`${measure}_${name}`, short(name)))),
      ),
    ),
    narrow,
  ];
}

function listed(row, state) {
  const cells = MEASURES.flatMap(({measure, names, said}) =>
    names.map((name, at) =>
      element("td", {role: "cell", class: at ? measure : `${measure} first`}, said(row[`${measure}_${name}`])),
    ),
  );
  return element("tr", {role: "row"}, headOf(row, state), cells);
}

function headOf(row, state) {
  const {question_id: id, question, relation, partition, object, replacement} = row.question;
  const parts = [key(partition), ...(index.own ? [] : [foreign(relation)]), foreign(object)];
  const changed = replacement ? [" → ", foreign(replacement)] : [];
  return element(
    "th",
    {role: "rowheader", scope: "row"},
    element("a", {href: addressOf({...state, open: id}), id: `row-${row.place}`}, foreign(question)),
    element("span", {class: "about"}, parts.flatMap((part, at) => (at ? [" · ", part] : [part])), changed),
  );
}

function key(partition) {
  return foreign(partition, "span", {class: index.own ? "key" : `key ${partition}`});
}

/* The values of a question's contexts of a kind, in their order. */
function natsOf(values) {
  return values.map(nats).join(" · ") || "–";
}

function outcomesOf(values) {
  if (values.length < 2) return outcomeOf(values[0]);
  const counts = Object.keys(OUTCOME_MARKS).map((name) => [name, values.filter((value) => value === name).length]);
  const there = counts.filter(([, count]) => count);
  return there.map(([name, count]) => `${outcomeOf(name)} ${number(count)}`).join(", ") || "–";
}

function outcomeOf(outcome) {
  return outcome ? `${OUTCOME_MARKS[outcome]}${outcome}` : "–";
}

document.querySelector("#rows thead").append(...headsOfList());
document.getElementById("rows").style.setProperty("--contexts", CONTEXTS.length);
