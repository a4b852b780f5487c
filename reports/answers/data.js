/* The data blocks (blocks.py says what is in them), parsed when somebody looks, a shard at a time. */

const index = parsed("index");
const questions = rowsOf(index.questions).map((question) => ({...question, words: wordsOfQuestion(question)}));
const models = new Map(index.models.map((name, number) => [name, {name, number, rows: null, shardsRead: 0}]));

function parsed(block) {
  return JSON.parse(document.getElementById(block).textContent);
}

/* [{a, b}, …] of {a: […], b: […]} */
function rowsOf(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, at) => Object.fromEntries(names.map((name) => [name, columns[name][at]])));
}

/* A row is a question that the model answered: its scores, the question, and the words that a search looks through. */
function rowsOfModel(model) {
  model.rows ??= rowsOf(parsed(`scores-${model.number}`)).map((scores, at) => {
    const question = questions[scores.place];
    return {...scores, at, question, words: question.words};
  });
  return model.rows;
}

function rowOf(id, model) {
  return rowsOfModel(model).find(({question}) => question.question_id === id);
}

function textsOf(row) {
  return inShards("texts", row.place);
}

function answersOf(row, model) {
  return inShards(`answers-${model.number}`, row.at);
}

function inShards(name, at) {
  return parsed(`${name}-${Math.floor(at / index.shard)}`)[at % index.shard];
}
