/* Search, filters and order: which rows of a model are listed. */

const LETTERS = {ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i"};

/* The text as a search compares it: small letters without accents. */
function folded(text) {
  const small = text.toLowerCase();
  if (!/[^\x00-\x7f]/.test(small)) return small;
  return small.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[ßæœøđðłþı]/g, (letter) => LETTERS[letter]);
}

function wordsOfQuestion(question) {
  const {question: asked, subject, relation, partition, object, replacement, others} = question;
  const own = [...(index.own ? [partition] : []), ...others.map(([, value]) => value)];
  return folded([asked, subject, relation, object, replacement, ...own].join("\n"));
}

function hits(rows, state) {
  const wanted = folded(state.search).split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => chosen(row, state) && wanted.every((word) => row.words.includes(word)));
  return sorted(found, SORTS[state.sort], state.order === "ascending" ? 1 : -1);
}

function chosen(row, state) {
  const {partition, relation, judge, variants} = state;
  return (
    (!partition || row.question.partition === partition) &&
    (!relation || row.question.relation === relation) &&
    (judge !== "agrees" || !row.judged || row.judged === row.judged.toLowerCase()) &&
    (variants !== "agree" || !row.question.cases.some((_, at) => variantsDiffer(row, at, state))) &&
    (!OF_CASES.some((name) => state[name]) || row.question.cases.some((_, at) => caseFits(row, at, state))) &&
    COLUMNS.every(({at, control}) => !state[control] || cellOf(row, at) === state[control])
  );
}

/* True if one case passes all filters on answers; a row is listed if it has such a case. */
function caseFits(row, at, {under, verdict, outcome, ended, judge, variants, since, ...state}) {
  const is = (name, word) => !word || row[name]?.[at] === word[0];
  return (
    (!under || row.question.cases[at].condition === under) &&
    row.ended?.[at] !== "-" &&
    (index.own && PARTS.has(verdict) ? partOf(row, at) === verdict : is("verdict", verdict)) &&
    is("outcome", outcome) &&
    is("ended", ended) &&
    (!since || Boolean(row.before?.[at])) &&
    (judge !== "differs" || /[A-Z]/.test(row.judged?.[at] ?? "")) &&
    (variants !== "differ" || variantsDiffer(row, at, state))
  );
}

/* The part of the headline figure that a greedy reply to a user's question counts in; null without a verdict. */
const PARTS = new Set(["right", "wrong", "both", "passage", "neither", "declined"]);

function partOf(row, at) {
  const letter = row.verdict?.[at] ?? "-";
  const {condition} = row.question.cases[at];
  const isContested = condition === "conflicting" || condition === "mixed";
  if (letter === "-") return null;
  if (letter === "r") return "declined";
  if (condition === "supporting") return letter === "c" || letter === "b" ? "right" : "neither";
  if (letter === "b") return isContested ? "both" : "right";
  if (letter === "c") return condition === "unknown" ? "passage" : "wrong";
  return letter === "o" ? "right" : "neither";
}

/* How bad a reply with a passage is: 3 for a wrong passage repeated in place of a known answer, 2 for one repeated
   otherwise, 1 for a right passage ignored, 0 for others. */
function badness(row, at) {
  const {condition} = row.question.cases[at];
  const part = partOf(row, at);
  if (condition === "conflicting" || condition === "mixed") return part === "wrong" ? (partOf(row, 0) === "right" ? 3 : 2) : 0;
  return condition === "supporting" && part !== null && part !== "right" ? 1 : 0;
}

/* True if the shown variants have different verdicts in a case. */
function variantsDiffer(row, at, state) {
  const verdicts = shownModels(state).map((model) => rowOfOther(row, model)?.verdict?.[at] ?? "-");
  return new Set(verdicts.filter((letter) => letter !== "-")).size > 1;
}

function cellOf(row, column) {
  return row.question.others.find(([at]) => at === column)?.[1];
}

/* The values of a measure for a row under these conditions; a condition can have none, one or several. */
function all(row, measure, conditions) {
  const values = row[measure] ?? [];
  return row.question.cases.flatMap(({condition}, at) => (conditions.includes(condition) ? [values[at] ?? null] : []))
    .filter((known) => known !== null);
}

function largest(values) {
  return values.length ? values.reduce((one, other) => Math.max(one, other)) : null;
}

/* The rows sorted by a key; rows without a key are last in both directions, equal rows in the order of questions. */
function sorted(rows, keyOf, direction) {
  const keyed = rows.map((row) => ({row, key: keyOf(row)}));
  keyed.sort((one, other) => {
    if (one.key === other.key) return one.row.place - other.row.place;
    if (one.key === null || other.key === null) return one.key === null ? 1 : -1;
    return direction * (one.key - other.key);
  });
  return keyed.map(({row}) => row);
}

/* The number of a row's cases with an outcome, by its first letter; null without outcomes. */
function howOften(row, letter) {
  const measured = [...(row.outcome ?? "")].filter((known) => known !== "-");
  return measured.length ? measured.filter((known) => known === letter).length : null;
}

/* Adds the answers to the words that a search reads, one shard whenever the browser is idle. */
function readAhead(model, whenRead) {
  if (model.reading) return;
  model.reading = true;
  const next = () => {
    readShard(model, model.shardsRead++);
    if (allRead(model)) whenRead();
    else whenIdle(next);
  };
  whenIdle(next);
}

function readShard(model, shard) {
  const rows = rowsOfModel(model).slice(shard * index.shard);
  parsed(`answers-${model.number}-${shard}`).forEach((answered, at) => {
    rows[at].words += `\n${wordsOfAnswers(answered, rows[at])}`;
  });
}

function allRead(model) {
  return model.shardsRead * index.shard >= rowsOfModel(model).length;
}

function wordsOfAnswers({cases}, row) {
  const sampled = cases.flatMap((one) => one?.groups.flat() ?? []);
  const thoughts = cases.map((one) => one?.greedy?.[2] ?? "");
  const said = [...row.greedy, ...thoughts, ...sampled.flatMap(([text, , , before]) => [text, before])];
  return folded([...new Set(said)].filter(Boolean).join("\n"));
}

function whenIdle(work) {
  if (window.requestIdleCallback) requestIdleCallback(work, {timeout: 200});
  else setTimeout(work, 20);
}
