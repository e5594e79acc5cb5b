// How the site's search orders what it finds: Sphinx puts this file into its own script (html_search_scorer in conf.py).
// Pages that explain something come before pages that list everything. Of pages of one kind, those whose title has more
// of the words come first. A page whose title, or a heading of which, is what was asked for keeps the score of Sphinx.
const FOLDERS = [
  ["reference/generated/choices/", -24],
  ["reference/generated/", -16],
  ["changelog", -16],
  ["gallery/", -8],
  ["formats/", -8],
  ["inside/", -4],
  ["contributing/", -2],
  ["guides/", 4],
  ["for/", 2],
  ["command-line", 4],
];

const stemsOf = (text) => {
  const stemmer = new Stemmer();
  const words = text.toLowerCase().split(/[^\p{Letter}\p{Number}]+/u).filter((word) => word && !stopwords.has(word));
  return new Set(words.map((word) => stemmer.stemWord(word)));
};

// "Recorder" and "recording" have other stems than "record", but begin with it.
const wordsIn = (title, query) => {
  const inTitle = [...stemsOf(title)];
  return [...stemsOf(query)].filter((stem) => stem.length > 2 && inTitle.some((one) => one.startsWith(stem))).length;
};

var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    if (kind !== "text") return score;
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const [, ofFolder] = FOLDERS.find(([start]) => page.startsWith(start)) || ["", 0];
    return score + ofFolder + 4 * wordsIn(title, query);
  },
  // The values of Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
