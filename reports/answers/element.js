/* Makers of elements. Texts of the study become text nodes: no function reads a text as markup. */

/* An element with attributes and children; a child that is a string becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat(Infinity));
  return made;
}

/* A text of the study, isolated so that right-to-left letters in it do not reorder the texts beside it. */
function foreign(text, name = "bdi", attributes = {}) {
  return element(name, {dir: "auto", ...attributes}, text);
}

function nats(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2).replace("-", "−");
}

function percent(share) {
  return share === undefined ? "–" : `${Math.round(100 * share)}%`;
}

function number(value) {
  return value.toLocaleString("en");
}
