/* One question: its columns, its scores, and the answers of one or more models, alone and with each context. */

const WIKIDATA = "https://www.wikidata.org/wiki/";
const HUES = 10;
const LONG = 160;
const FEW_CASES = 3;

function questionNodes(row, models) {
  const texts = textsOf(row);
  const said = models.map((model) => answersOf(rowOfOther(row, model)));
  const cases = row.question.cases.map((one, at) => ({
    ...one,
    at,
    text: texts.contexts[at - 1]?.text,
    forms: formsOf(row.question, texts, at),
    question: row.question,
    answered: said.map((answers) => answers.cases[at]),
  }));
  const standIns = [...new Set(said.flatMap(({stand_ins: names}) => names))];
  const many = models.length > 1 || cases.length > FEW_CASES ? " many" : "";
  return [
    element("h2", {id: "question", tabindex: "-1"}, foreign(row.question.question)),
    element(
      "div",
      {class: `known${many}`},
      factsOf(row.question, texts, models),
      element("div", {}, models.map(({name}, at) => scoresOf(name, cases, at)), standInsOf(standIns)),
    ),
    element(
      "div",
      {class: models.length > 1 ? "conditions aside" : "conditions"},
      cases.map((one) => caseOf(one, models)),
    ),
  ];
}

function factsOf(question, texts, models) {
  const facts = [
    ...(models.length > 1 ? [] : [["Model", foreign(models[0].name)]]),
    ...(question.subject ? [["Subject", foreign(question.subject), linkTo(texts.subject_id)]] : []),
    ...(index.own ? [] : [["Relation", foreign(question.relation), linkTo(texts.property_id)]]),
    [index.own ? "Group" : "Partition", key(question.partition)],
    [index.own ? "Right answer" : "Original answer", marked(question.object, "original"), linkTo(texts.object_id)],
    ["Counts as right", folding(texts.accepted ?? question.object, "a long list")],
    ...(question.replacement ? [["Replacement", marked(question.replacement, "replacement")]] : []),
    ...measured(question.partition === "disputable" ? "Reversions" : "Edits of the fact", texts.edits),
    ...measured("Views of the subject", texts.subject_popularity, " a month"),
    ...measured("Views of the object", texts.object_popularity, " a month"),
    ...question.others.map(([at, value]) => [foreign(index.columns[at][0]), folding(value, "a long text")]),
  ];
  return element("dl", {}, facts.map(([name, ...said]) => [element("dt", {}, name), element("dd", {}, said)]));
}

/* A text; a long text is folded. */
function folding(text, said) {
  if (text.length <= LONG) return foreign(text);
  return element("details", {}, element("summary", {}, said), foreign(text));
}

function measured(name, value, unit = "") {
  return value === undefined ? [] : [[name, number(value) + unit]];
}

/* A link to the item or property on Wikidata; nothing for a text that is no id. */
function linkTo(id) {
  if (!/^[QP][1-9][0-9]*$/.test(id ?? "")) return [];
  const page = id.startsWith("P") ? `Property:${id}` : id;
  return [" ", element("a", {href: WIKIDATA + page, rel: "noopener noreferrer", class: "id"}, id)];
}

/* The scores of the shown model at a position; a score without any value is left out. */
function scoresOf(model, cases, at) {
  const every = [
    ["Semantic entropy (nats)", ({scores}) => withError(scores, "semantic_entropy")],
    ["Coherent persuasion (nats)", ({scores}) => withError(scores, "coherent_persuasion")],
    ["Groups of answers", ({groups}) => (groups.length ? number(groups.length) : "–")],
    ["States", ({scores}, {condition}) => [stating(scores.verdict, condition, scores.reason), scores.reason ? ` (${scores.reason})` : ""].join("")],
    ...(index.judges.length ? [["States, by the judge", ({scores}) => opinionOf(scores)]] : []),
    ["Outcome", ({scores}) => outcomeOf(scores.outcome)],
    [`Samples that state the ${index.own ? "passage" : "context"}'s`, ({scores}) => percent(scores.samples_that_follow)],
    ["Accurate, as published", ({scores}) => yesOrNo(scores.accurate)],
    ["Persuaded, as published", ({scores}) => yesOrNo(scores.persuaded_as_published)],
    ["Stubborn, as published", ({scores}) => yesOrNo(scores.stubborn_as_published)],
  ];
  const lines = every.filter(([, say]) => cases.some((one) => one.answered[at] && say(one.answered[at], one) !== "–"));
  const cell = (say, one) => element("td", {class: "n"}, one.answered[at] ? say(one.answered[at], one) : "–");
  const line = ([said, say]) =>
    element("tr", {}, element("th", {scope: "row"}, said), cases.map((one) => cell(say, one)));
  const ids = (one) => idOf(one).map((id) => foreign(id, "span", {class: "about"}));
  const names = cases.map((one) => [CONDITIONS[one.condition], ids(one)]);
  const head = ["score", ...names].map((said) => element("th", {scope: "col"}, said));
  return element(
    "table",
    {class: "scores", "aria-label": cases[0].answered.length > 1 ? `Scores of ${model}` : "Scores"},
    cases[0].answered.length > 1 ? element("caption", {class: "model"}, foreign(model)) : [],
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, lines.map(line)),
  );
}

/* The judge's verdict, after ≠ if the rule has another verdict. */
function opinionOf({judged, unjudged, agree}) {
  if (judged === undefined) return unjudged ? `– (${unjudged})` : "–";
  return agree ? judged : `≠ ${judged}`;
}

function withError(scores, name) {
  const error = scores[`${name}_standard_error`];
  return nats(scores[name]) + (error === undefined ? "" : ` ± ${nats(error)}`);
}

function yesOrNo(value) {
  return value === undefined ? "–" : value ? "yes" : "no";
}

function standInsOf(said) {
  return said.length ? foreign(`Stand-in: ${said.join("; ")}.`, "p", {class: "note"}) : [];
}

/* A question alone, or with one of its contexts: its kind, its id, its text, and the answers. */
function caseOf(one, models) {
  const title = one.condition === "none" ? "Without a context" : `With the ${CONDITIONS[one.condition]}`;
  return element(
    "section",
    {"aria-label": [title, ...idOf(one)].join(", ")},
    element("h3", {}, title, idOf(one).map((id) => [" · ", foreign(id)])),
    one.text === undefined ? [] : foreign(highlighted(one.text, one.forms), "blockquote"),
    models.length === 1
      ? answersUnder(one.answered[0], one)
      : element("div", {class: "models"}, models.map(({name}, at) => answersOfModel(name, one.answered[at], one))),
  );
}

function answersOfModel(model, answered, one) {
  return element("div", {}, element("h4", {class: "model"}, foreign(model)), answersUnder(answered, one));
}

/* The id of a context, unless it is the name of its condition. */
function idOf({id, condition}) {
  return id === condition ? [] : [id];
}

/* A text in pieces; the answers in `forms` are marked where they stand as whole words. */
function highlighted(text, forms) {
  const kinds = new Map([...forms].reverse().map(([words, kind]) => [words.toLowerCase(), kind]));
  const words = [...kinds.keys()].filter(Boolean).sort((one, other) => other.length - one.length);
  if (!words.length) return [text];
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const pieces = text.split(pattern);
  return pieces.map((piece, at) => (at % 2 ? marked(piece, kinds.get(piece.toLowerCase()) ?? "original") : piece));
}

function marked(text, kind) {
  return foreign(text, "mark", {class: kind});
}

function answersUnder(answered, one) {
  if (!answered) return element("p", {class: "note"}, "No answers were sampled.");
  const {greedy, groups, scores} = answered;
  const samples = groups.flat().reduce((sum, answer) => sum + timesOf(answer), 0);
  return [
    cutOf(scores.context_cut),
    greedy ? greedyOf(greedy, groups, one) : [],
    element("ol", {class: "groups"}, groups.map((answers, at) => groupOf(answers, at, samples, one))),
  ];
}

function timesOf(answer) {
  return answer.at(-1);
}

function cutOf(tokens) {
  return tokens > 0 ? element("p", {class: "cut"}, `Context cut by ${number(tokens)} tokens`) : [];
}

function greedyOf(answer, groups, one) {
  const [text, , , , lost] = answer;
  const at = groups.findIndex((answers) => answers.some(([sampled]) => sampled === text));
  const same = lost ? "not judged" : at < 0 ? "not among the samples" : `sampled, too, in group ${letterOf(at)}`;
  return element(
    "div",
    {class: "greedy"},
    element("p", {class: "size"}, "Greedy answer"),
    answerOf("div", answer, [...probabilityOf(answer), same], one),
  );
}

function groupOf(answers, at, samples, one) {
  const size = answers.reduce((sum, answer) => sum + timesOf(answer), 0);
  const letter = element("b", {class: "letter"}, letterOf(at));
  return element(
    "li",
    {class: `group hue-${at % HUES}`},
    element("p", {class: "size"}, letter, ` ${number(size)} of ${number(samples)}`),
    element("ul", {}, answers.map((answer) => drawn(answer, one))),
  );
}

function drawn(answer, one) {
  const count = timesOf(answer);
  return answerOf("li", answer, [...(count > 1 ? [`${number(count)} times`] : []), ...probabilityOf(answer)], one);
}

function probabilityOf([, logProbability]) {
  return logProbability === null ? [] : [`${nats(logProbability)} nats`];
}

function answerOf(name, [text, , finished, thoughts, lost], notes, one) {
  const none = lost ? `no answer: ${lost}` : "empty answer";
  const said = text.trim() ? foreign(highlighted(text, one.forms), "span", {class: "words"}) : element("em", {}, none);
  const cut = lost || "unfinished";
  const mark = finished || !text.trim() ? [] : [" ", element("span", {class: "unfinished"}, cut)];
  return element(
    name,
    {class: "answer"},
    said,
    " ",
    element("span", {class: "about"}, notes.join(" · "), mark),
    text.trim() && index.measured.includes("verdict") ? judging(one.question, one, text) : [],
    thoughts ? thoughtsOf(thoughts) : [],
  );
}

/* What the model wrote before the answer, folded. */
function thoughtsOf(thoughts) {
  const summary = element("summary", {}, "Thoughts");
  return element("details", {class: "thoughts"}, summary, foreign(thoughts, "p", {class: "words"}));
}

/* A to Z, then A2 to Z2 and so on. */
function letterOf(at) {
  const round = Math.floor(at / 26);
  return String.fromCharCode(65 + (at % 26)) + (round ? round + 1 : "");
}
