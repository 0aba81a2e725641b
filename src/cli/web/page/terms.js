// Remembers who has led each election, as far back as this page and the events of the server go. Terms
// that follow each other have different tints.

const KEPT = 60; // terms of each election

const elections = new Map(); // for a key: its terms, the oldest first
let last = null; // the last event that was learnt

const same = (term, observed) => term.known === observed.known && term.leader === observed.leader &&
  term.term === observed.term && term.value === observed.value;

function learn(key, observed, from) {
  if (!elections.has(key)) { elections.set(key, []); }
  const terms = elections.get(key);
  const newest = terms[terms.length - 1];
  if (newest && same(newest, observed)) { return; }
  const {known, leader, value, term} = observed;
  const [n, tint] = newest ? [newest.n + 1, newest.tint] : [0, true];
  terms.push({known, leader, value, term, from: Math.max(from, newest ? newest.from : 0), n, tint: leader ? !tint : tint});
  terms.splice(0, terms.length - KEPT);
}

const isNew = (event) => !last || event.id > last.id;

// A server that was started again numbers its events from 1. What happened before that is not known.
function noticeRestart(events) {
  const newest = events[events.length - 1];
  const again = events.find((event) => last && event.id === last.id);
  if (last && newest && (newest.id < last.id || again && again.time_ms !== last.time_ms)) {
    for (const key of elections.keys()) { learn(key, {known: false, leader: null, value: null, term: null}, last.time_ms); }
    last = null;
  }
}

// A key may have events before it is known to be an election, so the events of all keys are learnt.
export function learnTerms(state) {
  noticeRestart(state.events);
  for (const event of state.events.filter(isNew)) {
    if (event.observed) { learn(event.name, event.observed, event.time_ms); }
    last = event;
  }
  for (const entry of state.keys) {
    if (entry.observed) { learn(entry.observed.key, entry.observed, state.time_ms - (entry.seen_ms ?? 0)); }
  }
}

export const termsOf = (key) => elections.get(key) ?? [];
