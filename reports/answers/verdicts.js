/* Verdicts by hand: what somebody who reads says of the words of an answer. They are kept in this browser until they are
   downloaded; the study counts them once its file has them. */

const OF_FILE = ["question", "context", "model", "sample", "answer", "verdict", "who", "why"];
const STORE = `swaymeter.verdicts ${document.title}`;
const byHand = new Map(remembered());

/* What this browser remembers; a browser that remembers nothing says so with an error. */
function remembered() {
  try {
    const known = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return known.filter(([, row]) => OF_FILE.every((name) => typeof row[name] === "string"));
  } catch {
    return [];
  }
}

function remember() {
  try {
    localStorage.setItem(STORE, JSON.stringify([...byHand]));
  } catch {
    /* they are kept as long as the page is open */
  }
}

function sameWords(text) {
  return text.split(/\s+/).filter(Boolean).join(" ").replace(/^[' ]+/, "");
}

function aboutWords(question, context, answer) {
  return JSON.stringify([question, context, sameWords(answer)]);
}

/* The verdict that this browser has on an answer; undefined where it has none. */
function handOf(question, context, answer) {
  return byHand.size ? byHand.get(aboutWords(question, context, answer ?? "")) : undefined;
}

/* Keeps what somebody says of an answer; an empty verdict takes it back. */
function judge(question, context, answer, changes) {
  const about = aboutWords(question, context, answer);
  const empty = {question, context, model: "", sample: "", answer, verdict: "", who: "", why: ""};
  const row = {...empty, ...byHand.get(about), ...changes};
  if (row.verdict) byHand.set(about, row);
  else byHand.delete(about);
  remember();
  showHand();
}

/* What one says of an answer: a list of verdicts and, once one is chosen, the reason. */
function judging(question, {id, condition}, answer) {
  const known = handOf(question.question_id, id, answer);
  const options = ["", ...Object.values(NAMES.verdict).filter((verdict) => verdict !== "undecided")].map((verdict) =>
    element("option", {value: verdict}, verdict ? stating(verdict, condition) : "correct…"),
  );
  const select = element("select", {"aria-label": "Verdict by hand"}, options);
  const why = element("input", {"aria-label": "Why", placeholder: "why"});
  select.value = known?.verdict ?? "";
  why.value = known?.why ?? "";
  why.hidden = !known;
  const keep = () => {
    judge(question.question_id, id, answer, {verdict: select.value, why: why.value});
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

function showHand() {
  const count = byHand.size;
  document.getElementById("hand").hidden = !count;
  say("hand-count", `${number(count)} ${count === 1 ? "verdict" : "verdicts"} by hand, in this browser alone.`);
}

/* The file: the study's rows that nobody has judged anew, and those of this browser. */
function saveVerdicts() {
  const who = document.getElementById("who");
  if (!who.reportValidity()) return;
  const kept = index.verdicts.filter(
    ({question, context, answer, model, sample}) => model || sample || !handOf(idOfQuestion(question), context, answer),
  );
  const rows = [...kept, ...[...byHand.values()].map((row) => ({...row, who: row.who || who.value}))];
  const lines = [OF_FILE, ...rows.map((row) => OF_FILE.map((name) => row[name]))];
  const text = lines.map((cells) => `${cells.map(cellToReadBack).join(",")}\r\n`).join("");
  download("verdicts.csv", `\ufeff${text}`, "text/csv");
}

/* A file may have the question itself in place of its id. */
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

function discardVerdicts() {
  byHand.clear();
  remember();
  showHand();
  go({open: ""});
}
