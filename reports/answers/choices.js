/* Choices of the reader: kinds of context, partitions, relations, orders, and further columns of a user's file. */

const CONDITIONS = index.conditions;
const CONTEXTS = Object.keys(CONDITIONS).filter((name) => name !== "none");
const SUPPORTING = new Set(index.supporting);
const COLUMNS = index.columns
  .map(([name, values], at) => ({name, values, at, control: `column.${name}`}))
  .filter(({values}) => values.length);
const SORTS = {
  question: (row) => row.place,
  worst: (row) => largest(row.question.cases.map((_, at) => badness(row, at))),
  persuasion: (row) => largest(all(row, "persuasion", CONTEXTS)),
  ...sortsBy("persuasion", CONTEXTS),
  ...sortsBy("entropy", Object.keys(CONDITIONS)),
  persuaded: (row) => howOften(row, "p"),
  stubborn: (row) => howOften(row, "s"),
};

function sortsBy(measure, names) {
  return Object.fromEntries(names.map((name) => [`${measure}_${name}`, (row) => largest(all(row, measure, [name]))]));
}

/* The name of a condition without the word context, for a list of contexts. */
function short(name) {
  return name === "none" ? CONDITIONS[name] : CONDITIONS[name].replace(/ context$/, "");
}

function offer(select, values, said = (value) => value) {
  select.append(...values.map((value) => element("option", {value, dir: "auto"}, said(value))));
}

function offerAll() {
  const control = (id) => document.getElementById(id);
  offer(control("partition"), index.partitions);
  offer(control("relation"), index.relations);
  offer(control("under"), Object.keys(CONDITIONS), (name) => CONDITIONS[name]);
  for (const [measure, names] of [["persuasion", CONTEXTS], ["entropy", Object.keys(CONDITIONS)]]) {
    const sorts = names.map((name) => element("option", {value: `${measure}_${name}`}, `${measure}, ${short(name)}`));
    control(`sort-${measure}`).append(...sorts);
  }
  control("relation").parentElement.after(...COLUMNS.map(columnChoice));
}

function columnChoice({name, values, control}) {
  const select = element("select", {id: control, name: control}, element("option", {value: ""}, "all"));
  offer(select, values.sort(new Intl.Collator("en", {numeric: true}).compare));
  return element("p", {class: "field"}, element("label", {for: control}, foreign(name)), select);
}

offerAll();
