/* The listed questions as a file: a line for each greedy answer of each shown model. */

const SAVED = [
  "question_id", "relation", "group", "question", "expected_answer", "other_answer", "context_id", "context_type",
  "context", "model", "answer", "verdict", "reason", "outcome", "ended", "judge_verdict", "semantic_entropy",
  "coherent_persuasion",
];
const ENDINGS = {f: "by itself", u: "cut off", l: "no answer"};
const SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20";
const UNSEEN = "\\s\"'\\u0000-\\u001f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff";
const FORMULA = new RegExp(`^(?=[${UNSEEN}]*[${SIGNS}]|[\\t\\n\\r])`, "u");
const LATER_FORMULA = new RegExp(`([;\\t\\n\\r][\\s"']*)(?=[${SIGNS}])`, "gu");

function save(format) {
  const rows = found.flatMap((row) =>
    shownModels(state).flatMap((model) => answersToSave(rowOfOther(row, model))),
  );
  const text = format === "csv" ? csvOf(SAVED, rows) : rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  download(`answers.${format}`, text, format === "csv" ? "text/csv" : "application/jsonl");
}

function answersToSave(row) {
  if (!row) return [];
  const {question} = row;
  const [texts, {cases}] = [textsOf(row), answersOf(row)];
  return question.cases.flatMap(({id, condition}, at) => {
    const known = caseOfRow(row, at);
    if (known.ended === "-") return [];
    const values = [
      question.question_id, question.relation, question.partition, question.question, question.object,
      question.replacement, id, condition, texts.contexts[at - 1]?.text, row.model.name, known.text, known.verdict,
      cases[at].scores.reason, known.outcome, ENDINGS[known.ended], known.judged, known.entropy, known.persuasion,
    ];
    return [Object.fromEntries(SAVED.map((name, place) => [name, values[place] || values[place] === 0 ? values[place] : null]))];
  });
}

/* Rows as CSV, with an apostrophe before a text that a spreadsheet would compute. */
function csvOf(names, rows) {
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return `\ufeff${lines.map((cells) => `${cells.map(cellOfCsv).join(",")}\r\n`).join("")}`;
}

function cellOfCsv(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const harmless = value.replace(LATER_FORMULA, "$1'").replace(FORMULA, "'");
  return /[",\r\n;']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], {type: `${type};charset=utf-8`}));
  element("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
