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
  const {partition, relation, outcome, under, judge} = state;
  return (
    (!partition || row.question.partition === partition) &&
    (!relation || row.question.relation === relation) &&
    (!judge || row.differs === (judge === "differs")) &&
    (!outcome || all(row, "outcome", under ? [under] : CONTEXTS).includes(outcome)) &&
    COLUMNS.every(({at, control}) => !state[control] || cellOf(row, at) === state[control])
  );
}

function cellOf(row, column) {
  return row.question.others.find(([at]) => at === column)?.[1];
}

/* What is known of a row under these conditions: none, one or several values under each. */
function all(row, measure, conditions) {
  return conditions.flatMap((name) => row[`${measure}_${name}`]).filter((known) => known !== null);
}

function largest(values) {
  return values.length ? values.reduce((one, other) => Math.max(one, other)) : null;
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
  const measured = all(row, "outcome", CONTEXTS);
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
  const said = answers.flatMap(({greedy, groups}) => [...groups.flat(), greedy ?? [""]]);
  return folded([...new Set(said.flatMap(([text, , , thoughts]) => [text, thoughts ?? ""]))].join("\n"));
}

function whenIdle(work) {
  if (window.requestIdleCallback) requestIdleCallback(work, {timeout: 200});
  else setTimeout(work, 20);
}
