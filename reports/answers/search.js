/* Search, filters and order: which rows of a model are listed. */

const LETTERS = {ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i"};
const larger = (one, other) => (one === null ? other : other === null ? one : Math.max(one, other));
const SORTS = {
  persuasion: (row) => larger(row.persuasion_original, row.persuasion_counter_memory),
  persuasion_original: (row) => row.persuasion_original,
  persuasion_counter_memory: (row) => row.persuasion_counter_memory,
  entropy_none: (row) => row.entropy_none,
  entropy_original: (row) => row.entropy_original,
  entropy_counter_memory: (row) => row.entropy_counter_memory,
  persuaded: (row) => howOften(row, "persuaded"),
  stubborn: (row) => howOften(row, "stubborn"),
  question: (row) => row.place,
};
const OUTCOME_MARKS = {persuaded: "▲ ", agreed: "◆ ", stubborn: "■ ", other: ""};
const UNDER = {"": ["original", "counter_memory"], original: ["original"], counter_memory: ["counter_memory"]};

/* The text as a search compares it: small letters without accents. */
function folded(text) {
  const small = text.toLowerCase();
  if (!/[^\x00-\x7f]/.test(small)) return small;
  return small.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[ßæœøđðłþı]/g, (letter) => LETTERS[letter]);
}

function wordsOfQuestion(question) {
  const {question: asked, subject, relation, object, replacement} = question;
  return folded([asked, subject, relation, object, replacement].join("\n"));
}

function hits(rows, state) {
  const wanted = folded(state.search).split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => chosen(row, state) && wanted.every((word) => row.words.includes(word)));
  return sorted(found, SORTS[state.sort], state.order === "ascending" ? 1 : -1);
}

function chosen(row, {partition, relation, outcome, under}) {
  return (
    (!partition || row.question.partition === partition) &&
    (!relation || row.question.relation === relation) &&
    (!outcome || UNDER[under].some((name) => row[`outcome_${name}`] === outcome))
  );
}

/* In order of a key, rows without one last in either direction, ties in the order of the questions. */
function sorted(rows, keyOf, direction) {
  const keyed = rows.map((row) => ({row, key: keyOf(row)}));
  keyed.sort((one, other) => {
    if (one.key === other.key) return one.row.place - other.row.place;
    if (one.key === null || other.key === null) return one.key === null ? 1 : -1;
    return direction * (one.key - other.key);
  });
  return keyed.map(({row}) => row);
}

function howOften(row, outcome) {
  const measured = CONTEXTS.map((name) => row[`outcome_${name}`]).filter((known) => known !== null);
  return measured.length ? measured.filter((known) => known === outcome).length : null;
}

/* Adds the answers to what a search looks through, a shard whenever the browser has nothing else to do. */
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
    rows[at].words += `\n${wordsOfAnswers(answered)}`;
  });
}

function allRead(model) {
  return model.shardsRead * index.shard >= rowsOfModel(model).length;
}

function wordsOfAnswers({answers}) {
  const all = Object.values(answers).flatMap(({greedy, groups}) => [...groups.flat(), greedy ?? [""]]);
  return folded([...new Set(all.map(([text]) => text))].join("\n"));
}

function whenIdle(work) {
  if (window.requestIdleCallback) requestIdleCallback(work, {timeout: 200});
  else setTimeout(work, 20);
}
