"use strict";
// Search: shows the queries that have all words of the search field; accents and capitals do not count.
const folded = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
const queries = [...document.querySelectorAll("article")].map((article) => ({ article, words: null }));
const field = document.getElementById("search");

function search() {
  const wanted = folded(field.value).split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const query of queries) {
    query.words ??= folded(`${query.article.textContent} ${query.article.parentElement.firstElementChild.textContent}`);
    query.article.hidden = !wanted.every((word) => query.words.includes(word));
    shown += !query.article.hidden;
  }
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = !section.querySelector("article:not([hidden])");
  }
  document.getElementById("count").textContent = wanted.length ? `${shown} of ${queries.length} queries` : "";
}

document.getElementById("searching").hidden = false;
field.addEventListener("input", search);
addEventListener("hashchange", () => {
  if (document.querySelector(":target")?.closest("[hidden]")) {
    field.value = "";
    search();
    document.querySelector(":target").scrollIntoView();
  }
});
