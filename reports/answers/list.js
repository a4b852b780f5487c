/* The list of questions: of each, the greedy answers case by case, with the shown models side by side. */

const OUTCOME_MARKS = {persuaded: "▲ ", agreed: "◆ ", stubborn: "■ ", other: ""};
const ENDED = {u: "cut off", l: "no answer"};

/* A row of the list. The place is its position among all listed rows. */
function listed(row, place, count, state) {
  const {question_id: id, question} = row.question;
  const head = element("h3", {}, element("a", {href: addressOf({...state, open: id})}, foreign(question)));
  const shown = shownModels(state).map((model) => ({model, row: rowOfOther(row, model)})).filter((one) => one.row);
  return element(
    "article",
    {class: "row", tabindex: "-1", "aria-posinset": place + 1, "aria-setsize": count, id: `row-${row.place}`},
    element("header", {}, head, expectedOf(row.question)),
    casesOf(row, shown, state),
  );
}

function expectedOf({partition, relation, object, replacement}) {
  const group = [key(partition), ...(index.own ? [] : [" · ", foreign(relation)]), " · "];
  const changed = replacement ? [" → ", marked(replacement, "replacement")] : [];
  return element("p", {class: "about"}, group, marked(object, "original"), changed);
}

function key(partition) {
  return foreign(partition, "span", {class: index.own ? "key" : `key ${partition}`});
}

/* The answers in a table: a line for each case, a column for each model. Above MOST_ASIDE, models share a column. */
function casesOf(row, shown, state) {
  const aside = shown.length > 1 && shown.length <= MOST_ASIDE;
  const columns = aside ? shown.map((one) => [one]) : [shown];
  const names = shown.map(({model}) => element("th", {scope: "col"}, nameOf(model)));
  const texts = textsOf(row);
  const line = (one, at) =>
    element(
      "tr",
      {},
      element("th", {scope: "row"}, short(one.condition), idOf(one).map((id) => [" · ", foreign(id)]), otherOf(texts, one, at)),
      columns.map((of) => element("td", {"data-model": nameOf(of[0].model).textContent}, answersInCell(of, texts, at, state))),
    );
  return element(
    "table",
    {class: aside ? "cases aside" : "cases"},
    aside ? element("thead", {}, element("tr", {}, element("td"), names)) : [],
    element("tbody", {}, row.question.cases.map(line)),
  );
}

/* The answer that a conflicting context states; nothing for other contexts. */
function otherOf(texts, {condition}, at) {
  const [stated] = index.conflicting.includes(condition) ? texts.contexts[at - 1].states : [];
  return stated ? [" · ", marked(stated, "replacement")] : [];
}

/* The answers of models to a case. Answers with the same words, verdict and outcome are shown once, with the names of
   their models and without scores. */
function answersInCell(shown, texts, at, state) {
  const same = new Map();
  for (const {model, row} of shown) {
    const known = caseOfRow(row, at);
    if (known.ended === "-") continue;
    const {persuasion, entropy, ...said} = known;
    const words = JSON.stringify(said);
    same.set(words, [...(same.get(words) ?? []), {model, row, known}]);
  }
  if (!same.size) return element("span", {class: "note"}, "–");
  return [...same.values()].flatMap((of) => {
    const [{row}] = of;
    const known = of.length > 1 ? {...of[0].known, persuasion: null, entropy: null} : of[0].known;
    const hit = of.some((one) => one.model.name === state.model && isHit(one.row, at, state));
    const names = shown.length > 1 ? namesOf(of.map(({model}) => model), shown.length) : [];
    const said = element("div", {class: hit ? "said hit" : "said"}, names, saidIn(row.question, known, texts, at));
    return index.own && badness(row, at) ? [passageOf(row, texts, at), said] : said;
  });
}

/* The beginning of the passage before a bad reply. */
function passageOf({question}, texts, at) {
  const {text} = texts.contexts[at - 1];
  return foreign(highlighted(text, formsOf(question, texts, at)), "blockquote", {class: "brief"});
}

/* True if a filter on answers is set, and an answer passes all filters. */
function isHit(row, at, state) {
  return OF_CASES.some((name) => state[name]) && caseFits(row, at, state);
}

function namesOf(of, count) {
  const names = of.length === count ? ["all"] : of.flatMap((model, at) => (at ? [", ", nameOf(model)] : [nameOf(model)]));
  return element("span", {class: "about"}, names);
}

/* The name of a model without its first part and its dtype, if all models share them. */
function nameOf({name}) {
  const asked = [...models.keys()];
  const same = (partOf) => asked.every((other) => partOf(other) === partOf(name));
  const dtype = (full) => full.match(/ \([^()]*\)$/)?.[0] ?? "";
  const first = (full) => full.slice(0, full.length - dtype(full).length).split(" · ")[0];
  const rest = same(dtype) ? name.slice(0, name.length - dtype(name).length) : name;
  const brief = same(first) && asked.length > 1 ? rest.slice(first(name).length).replace(/^ · /, "") : rest;
  return foreign(brief.trim() || rest, "span", {title: name});
}

/* A greedy answer with its verdict, outcome and scores; expected answers are marked in its text. */
function saidIn(question, known, texts, at) {
  const said = known.text?.trim() ? foreign(highlighted(known.text, formsOf(question, texts, at)), "span", {class: "words"}) : [];
  const notes = [
    ...(known.ended in ENDED ? [element("span", {class: "unfinished"}, ENDED[known.ended])] : []),
    ...(known.text?.trim() || known.ended === "l" ? [] : [element("em", {}, "empty")]),
    verdictOf(known, question.cases[at].condition),
    ...(known.isNew ? ["your judgement, not in the study yet"] : known.by ? [["by ", foreign(known.by)]] : []),
    ...(known.differs ? [element("span", {class: "differs"}, `≠ judge: ${stating(known.judged, question.cases[at].condition)}`)] : []),
    ...(known.outcome && known.outcome !== "other" ? [outcomeOf(known.outcome)] : []),
    ...(known.persuasion === null ? [] : [`persuasion ${nats(known.persuasion)}`]),
    ...(known.entropy === null ? [] : [`entropy ${nats(known.entropy)}`]),
  ];
  if (known.before) notes.push(beforeOf(known.before, question.cases[at].condition));
  return [said, " ", element("span", {class: "notes"}, notes.flatMap((note, at) => (at ? [" ", note] : [note])))];
}

function beforeOf([text, verdict], condition) {
  return element("span", {class: "differs"}, `since last time; before: ${stating(verdict, condition)}, `, foreign(text, "q"));
}

function verdictOf({verdict, reason}, condition) {
  if (!verdict) return "";
  const side = verdict === "original" || (verdict === "context" && SUPPORTING.has(condition)) ? "original" : verdict;
  return element("span", {class: `verdict ${side}`}, stating(verdict, condition, reason));
}

/* Whose answer a reply states, in the words of this study. The reason tells apart replies that state neither answer. */
function stating(verdict, condition, reason) {
  if (reason === "yes or no of neither side" && index.own) return "wrong answer";
  const original = index.own ? "right answer" : "original answer";
  if (verdict === "context" && SUPPORTING.has(condition)) return original;
  const named = index.own ? ["a wrong passage's answer", "the passage's answer"] : ["a conflicting context's answer", "the context's answer"];
  const context = named[condition === "none" ? 0 : 1];
  const isAnother = reason?.startsWith("another");
  const neither = isAnother ? "another answer" : "another or none";
  const undecided = isAnother ? "another answer, or other words" : "no decision";
  return {context, original, both: "both answers", neither, refusal: "declines", undecided}[verdict] ?? "–";
}

/* The texts to mark in an answer or a context, by the side that they belong to: the right answers, and those that the
   context states; without a context, those of every conflicting one. */
function formsOf({object, replacement, cases}, texts, at) {
  const conflicting = texts.contexts.filter(({condition}) => index.conflicting.includes(condition));
  const stating = at ? [texts.contexts[at - 1]] : conflicting;
  const kind = SUPPORTING.has(cases[at].condition) ? "original" : "replacement";
  const of = (names, side) => names.filter(Boolean).map((name) => [name, side]);
  return [
    ...of(stating.flatMap(({states}) => states), kind),
    ...of([replacement], "replacement"),
    ...of([...texts.right, object], "original"),
  ];
}

function outcomeOf(outcome) {
  return outcome ? `${OUTCOME_MARKS[outcome]}${index.outcomes[outcome]}` : "–";
}
