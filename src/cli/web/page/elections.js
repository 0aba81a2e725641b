// Who leads each election, and who did before: a line of time with a part for each term.
import {byId, make, setAttribute, setClass, setText, setVariable, sync} from './dom.js';
import {keyOf} from './rows.js';
import {makeName, setName} from './names.js';
import {termsOf} from './terms.js';
import {dateAndTime, plural, span, timeOfDay, visible} from './words.js';

const MINUTE = 60000;
const TICKS = 4;

const leaderOf = (term) => !term.known ? 'not known' : term.leader ?? 'nobody';
const numberOf = (term) => term.term ? 'term ' + term.term : '';
const kindOf = (term) => !term.known ? 'unknown' : term.leader === null ? 'nobody' : term.tint ? 'odd' : 'even';

/* ---- the line ---- */

const makePart = () => make('span', '', make('span', 'label', makeName(), make('span', 'sub')));

function setPart(made, part, begin, length) {
  const {term, until} = part;
  const words = leaderOf(term) + (numberOf(term) && ', ' + numberOf(term));
  setClass(made, 'part ' + kindOf(term));
  setVariable(made, '--from', Math.max(0, (term.from - begin) / length).toFixed(4));
  setVariable(made, '--to', Math.min(1, (until - begin) / length).toFixed(4));
  setName(made.firstChild.firstChild, leaderOf(term));
  setText(made.firstChild.lastChild, numberOf(term));
  setAttribute(made, 'title', visible(words) + ', from ' + dateAndTime(term.from) + ' for ' + span(until - term.from, 0));
}

// The terms with their ends.
const partsOf = (terms, now) => terms.map((term, i) => ({term, until: terms[i + 1] ? terms[i + 1].from : now}));

function showLine(line, parts, begin, now) {
  const changes = parts.filter((part) => part.term.from > begin).length;
  sync(line, parts.filter((part) => part.until > begin), (part) => String(part.term.n),
    makePart, (made, part) => setPart(made, part, begin, now - begin));
  setAttribute(line, 'aria-label', plural(changes, 'change') + ' of the leader since ' + timeOfDay(begin));
}

function showTicks(ticks, begin, now) {
  const times = Array.from({length: TICKS}, (_, i) => begin + (now - begin) * i / TICKS);
  sync(ticks, times, (_) => 'tick', () => make('span'), (made, time) => setText(made, timeOfDay(time)));
}

/* ---- the same as a list ---- */

function setItem(made, part) {
  const [when, name, rest] = made.children;
  setText(when, dateAndTime(part.term.from));
  setName(name, leaderOf(part.term));
  setText(rest, [numberOf(part.term), 'for ' + span(part.until - part.term.from, 0)].filter(Boolean).join(', '));
}

function showItems(details) {
  const {parts} = details;
  if (!details.open) { return; }
  sync(details.lastChild, [...parts].reverse(), (part) => String(part.term.n),
    () => make('li', '', make('time'), makeName(), make('span', 'sub')), setItem);
}

/* ---- an election ---- */

function makeElection() {
  const parts = {name: makeName('h3'), leader: makeName(), sub: make('span', 'sub', make('span'), make('span')), line: make('div', 'line'),
    ticks: make('div', 'ticks'), details: make('details', '', make('summary', '', 'The same in words'), make('ol'))};
  parts.line.setAttribute('role', 'img');
  parts.ticks.setAttribute('aria-hidden', 'true');
  parts.details.addEventListener('toggle', () => showItems(parts.details));
  const made = make('li', 'election', make('div', 'who', parts.name, parts.leader, parts.sub),
    make('div', 'when', parts.line, parts.ticks, parts.details));
  made.parts = parts;
  return made;
}

function setElection(made, entry, begin, now) {
  const {name, leader, sub, line, ticks, details} = made.parts;
  const observed = entry.observed ?? {known: false};
  const parts = partsOf(termsOf(keyOf(entry)), now);
  setName(name, keyOf(entry));
  setName(leader, (observed.known ? '' : '\u26a0 ') + leaderOf(observed));
  setClass(leader, observed.known && observed.leader ? 'name leader' : 'name leader nobody');
  setText(sub.firstChild, numberOf(observed));
  setText(sub.lastChild, observed.value ? 'value ' + visible(observed.value) : '');
  showLine(line, parts, begin, now);
  showTicks(ticks, begin, now);
  details.parts = parts;
  showItems(details);
}

// How much time the line shows: all that is known, or what was chosen.
function lengthOf(keys, now) {
  const chosen = Number(byId('span').value) * MINUTE;
  const ages = keys.map((key) => termsOf(key)[0]).filter(Boolean).map((term) => now - term.from);
  return chosen || Math.max(MINUTE, ...ages);
}

export function showElections(state) {
  const found = state.keys.filter((entry) => entry.election);
  const now = state.time_ms;
  const begin = now - lengthOf(found.map(keyOf), now);
  byId('no-elections').hidden = found.length > 0;
  byId('spans').hidden = found.length === 0;
  sync(byId('elections'), found, keyOf, makeElection, (made, entry) => setElection(made, entry, begin, now));
}
