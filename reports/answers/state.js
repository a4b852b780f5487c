/* The state of the page: filters, order, models, open question. The address has it after the #, for links and Back. */

const MOST_ASIDE = 3;
const isMeasured = index.measured.includes("coherent_persuasion");
const OF_COLUMNS = Object.fromEntries(COLUMNS.map(({control}) => [control, ""]));
const OF_CASES = ["under", "verdict", "outcome", "ended", "judge", "variants", "since"];
const ALL = {search: "", partition: "", relation: "", ...Object.fromEntries(OF_CASES.map((name) => [name, ""])), ...OF_COLUMNS};
const FIRST = {
  ...ALL,
  model: index.models[0],
  beside: index.models.length > 1 && index.models.length <= MOST_ASIDE ? "all" : "",
  sort: index.own && index.measured.includes("verdict") ? "worst" : isMeasured ? "persuasion" : "question",
  order: isMeasured || (index.own && index.measured.includes("verdict")) ? "descending" : "ascending",
  at: "",
  open: "",
};
const FREE = new Set(["search", "at", "open"]);

/* The state in the address; a value that no control offers is ignored. */
function stateOfAddress() {
  const state = {...FIRST};
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (Object.hasOwn(FIRST, name) && (FREE.has(name) || isOffered(name, value))) state[name] = value;
  }
  return state;
}

function isOffered(name, value) {
  return [...document.getElementById(name).options].some((option) => option.value === value);
}

/* The address of a state, without the values of FIRST. */
function addressOf(state) {
  const said = Object.entries(state).filter(([name, value]) => value !== FIRST[name]);
  return `#${new URLSearchParams(said)}`;
}

/* The models whose answers are shown: the chosen one, and those beside it. */
function shownModels({model, beside}) {
  if (beside === "all") return [...models.values()];
  return [model, ...(beside && beside !== model ? [beside] : [])].map((name) => models.get(name));
}
