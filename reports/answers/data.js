/* The data blocks, which blocks.py describes. A block is parsed when the page needs it. */

const KEPT = 40;
const NAMES = {
  verdict: {c: "context", o: "original", b: "both", n: "neither", r: "refusal", u: "undecided"},
  reason: {a: "another answer or none", y: "yes or no of neither side"},
  outcome: {p: "persuaded", a: "agreed", s: "stubborn", o: "other"},
};
const parsedShards = new Map();
const index = parsed("index");
const ALONE = {id: "none", condition: "none"};
const questions = rowsOf(index.questions).map((question) => ({
  ...question,
  cases: [ALONE, ...question.contexts.map(([condition, id = condition]) => ({id, condition}))],
  words: wordsOfQuestion(question),
}));
const models = new Map(index.models.map((name, number) => [name, {name, number, rows: null, shardsRead: 0}]));

function parsed(block) {
  return JSON.parse(document.getElementById(block).textContent);
}

/* [{a, b}, …] of {a: […], b: […]} */
function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, at) => Object.fromEntries(names.map((name) => [name, columns[name][at]])));
}

/* The rows of a model. A row is a question that the model answered, with the scores in the list, and the words that a
   search reads. */
function rowsOfModel(model) {
  if (model.rows) return model.rows;
  model.rows = rowsOf(parsed(`scores-${model.number}`)).map((scores, at) => {
    const question = questions[scores.place];
    return {...scores, at, model, question, words: question.words};
  });
  model.byPlace = new Map(model.rows.map((row) => [row.place, row]));
  return model.rows;
}

function rowOf(id, model) {
  return rowsOfModel(model).find(({question}) => question.question_id === id);
}

/* The row of another model for the same question; undefined if this model has no answer to the question. */
function rowOfOther(row, model) {
  rowsOfModel(model);
  return model.byPlace.get(row.place);
}

/* A case of a row: the greedy answer with its end, its verdict and its outcome, and the scores. */
function caseOfRow(row, at) {
  const word = (name) => NAMES[name][row[name]?.[at]] ?? "";
  const judged = row.judged?.[at] ?? "-";
  const judgement = judgementOf(row.question.question_id, row.question.cases[at].id, row.greedy?.[at]);
  return {
    text: row.greedy?.[at] ?? null,
    ended: row.ended?.[at] ?? "-",
    verdict: judgement?.value ?? word("verdict"),
    reason: judgement ? "" : word("reason"),
    by: row.by?.[at] ?? "",
    before: row.before?.[at] ?? null,
    isNew: judgement !== undefined && !isInStudy(judgement),
    outcome: word("outcome"),
    judged: NAMES.verdict[judged.toLowerCase()] ?? "",
    differs: judged !== judged.toLowerCase(),
    entropy: row.entropy?.[at] ?? null,
    persuasion: row.persuasion?.[at] ?? null,
  };
}

function textsOf(row) {
  const texts = inShards("texts", row.place);
  const contexts = texts.contexts.map((context, at) => ({...row.question.cases[at + 1], ...context}));
  return {...texts, contexts};
}

/* All answers to a question, case by case; null for a case without answers. */
function answersOf(row) {
  const {cases, ...others} = inShards(`answers-${row.model.number}`, row.at);
  const whole = cases.map((one, at) => one && {...one, greedy: one.greedy && [row.greedy[at], ...one.greedy]});
  return {...others, cases: whole};
}

/* The entry at a position of all blocks with a name. The blocks that were read last stay parsed, at most KEPT. */
function inShards(name, at) {
  const block = `${name}-${Math.floor(at / index.shard)}`;
  const shard = parsedShards.get(block) ?? parsed(block);
  parsedShards.delete(block);
  parsedShards.set(block, shard);
  if (parsedShards.size > KEPT) parsedShards.delete(parsedShards.keys().next().value);
  return shard[at % index.shard];
}
