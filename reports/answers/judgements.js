/* Judgements: verdicts of a reader on the words of a reply. They stay in this browser until they are downloaded; the
   study counts them once its file of judgements has them (data/sources/judgements.py). */

const COLUMNS_OF_FILE = ["question_id", "context_id", "field", "judged", "value", "annotator", "note", "variant", "sample"];
const STORE = `swaymeter.judgements ${document.title}`;
const judgements = new Map(remembered());

/* The judgements that this browser stored; none if it refuses storage, which is an error. */
function remembered() {
  try {
    const known = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return known.filter(([, row]) => COLUMNS_OF_FILE.every((name) => typeof row[name] === "string"));
  } catch {
    return [];
  }
}

function remember() {
  try {
    localStorage.setItem(STORE, JSON.stringify([...judgements]));
  } catch {
    /* without storage, judgements last as long as the page is open */
  }
}

function sameWords(text) {
  return text.split(/\s+/).filter(Boolean).join(" ").replace(/^[' ]+/, "");
}

function aboutWords(question, context, answer) {
  return JSON.stringify([question, context, sameWords(answer)]);
}

/* The judgement of an answer in this browser; undefined without one. */
function judgementOf(question, context, answer) {
  return judgements.size ? judgements.get(aboutWords(question, context, answer ?? "")) : undefined;
}

/* True if the study's file already has this judgement; if a name is given, by the same person. */
function isInStudy(judgement) {
  const about = aboutWords(judgement.question_id, judgement.context_id, judgement.judged);
  const annotator = judgement.annotator || document.getElementById("annotator").value;
  return index.judgements.some(
    (row) =>
      row.field === "verdict" && row.value === judgement.value && (!annotator || row.annotator === annotator) &&
      aboutWords(idOfQuestion(row.question_id), row.context_id, row.judged) === about,
  );
}

/* Stores a verdict on an answer; an empty value removes it. */
function judge(question, context, judged, changes) {
  const about = aboutWords(question, context, judged);
  const empty = Object.fromEntries(COLUMNS_OF_FILE.map((name) => [name, ""]));
  const row = {...empty, question_id: question, context_id: context, field: "verdict", judged, ...judgements.get(about), ...changes};
  if (row.value) judgements.set(about, row);
  else judgements.delete(about);
  remember();
  showJudgements();
}

/* The fields for a judgement of an answer: a list of verdicts and, once a verdict is chosen, the reason. */
function judging(question, {id, condition}, answer) {
  const known = judgementOf(question.question_id, id, answer);
  const verdicts = Object.values(NAMES.verdict).filter((verdict) => verdict !== "undecided");
  const offered = SUPPORTING.has(condition) ? verdicts.filter((verdict) => !["original", "both"].includes(verdict)) : verdicts;
  const options = ["", ...offered].map((verdict) =>
    element("option", {value: verdict}, verdict ? stating(verdict, condition) : "correct…"),
  );
  const select = element("select", {"aria-label": "Your verdict"}, options);
  const why = element("input", {"aria-label": "Why", placeholder: "why"});
  const value = known?.value ?? "";
  select.value = SUPPORTING.has(condition) && ["original", "both"].includes(value) ? "context" : value;
  why.value = known?.note ?? "";
  why.hidden = !known;
  const keep = () => {
    judge(question.question_id, id, answer, {value: select.value, note: why.value});
    for (const other of document.querySelectorAll(".judging")) {
      if (other.dataset.about !== about) continue;
      [other.firstChild.value, other.lastChild.value, other.lastChild.hidden] = [select.value, why.value, !select.value];
    }
  };
  select.addEventListener("change", keep);
  why.addEventListener("change", keep);
  const about = aboutWords(question.question_id, id, answer);
  return element("span", {class: "judging", "data-about": about}, select, why);
}

function showJudgements() {
  const count = judgements.size;
  document.getElementById("judgements").hidden = !count;
  say("judgements-count", `${number(count)} ${count === 1 ? "judgement" : "judgements"}, in this browser alone.`);
}

/* Saves the judgements of the study and of this browser. A judgement that its annotator replaced here is left out. */
function saveJudgements() {
  const annotator = document.getElementById("annotator");
  if (!annotator.reportValidity()) return;
  const isReplaced = (row) => {
    const later = judgementOf(idOfQuestion(row.question_id), row.context_id, row.judged);
    return later !== undefined && (later.annotator || annotator.value) === row.annotator;
  };
  const kept = index.judgements.filter((row) => row.field !== "verdict" || row.variant || row.sample || !isReplaced(row));
  const rows = [...kept, ...[...judgements.values()].map((row) => ({...row, annotator: row.annotator || annotator.value}))];
  const lines = [COLUMNS_OF_FILE, ...rows.map((row) => COLUMNS_OF_FILE.map((name) => row[name]))];
  const text = lines.map((cells) => `${cells.map(cellToReadBack).join(",")}\r\n`).join("");
  download("judgements.csv", `\ufeff${text}`, "text/csv");
}

/* The id of a question; a file may have the text of the question in place of its id. */
function idOfQuestion(name) {
  return questions.find(({question_id: id, question}) => id === name || question === name)?.question_id ?? name;
}

/* A text that a spreadsheet leaves as it is, and that is the same when it is read back: signs as codes, and an
   apostrophe before what might be a formula or a number. */
function cellToReadBack(text) {
  const code = (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`;
  const coded = text.replace(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g, code);
  const later = new RegExp(`([;\\t\\n\\r][\\s"']*)([${SIGNS}])`, "gu");
  const cell = coded.replace(later, (_, before, sign) => before + code(sign)).replace(FORMULA, "'");
  const guarded = /^[^\p{L}']*\d/u.test(cell) ? `'${cell}` : cell;
  return `"${guarded.replaceAll('"', '""')}"`;
}

function discardJudgements() {
  judgements.clear();
  remember();
  showJudgements();
  go({open: ""});
}
