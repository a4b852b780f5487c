/* What is looked at, kept in the address after the #, so that a link says it and Back works. */

const OF_COLUMNS = Object.fromEntries(COLUMNS.map(({control}) => [control, ""]));
const ALL = {search: "", partition: "", relation: "", outcome: "", under: "", judge: "", ...OF_COLUMNS};
const FIRST = {
  ...ALL,
  model: index.models[0],
  sort: "persuasion",
  order: "descending",
  page: "1",
  open: "",
  models: "",
};
const FREE = new Set(["search", "page", "open", "models"]);

/* The state that the address says; what it says wrongly is as if it were not said. */
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

/* The address of a state, without what is as it is at first. */
function addressOf(state) {
  const said = Object.entries(state).filter(([name, value]) => value !== FIRST[name]);
  return `#${new URLSearchParams(said)}`;
}
