// Rows of locks: what the grid and the list of all locks have in common.
import {cell, headCell, make, row, setClass, setText, setVariable, whenDrawn} from './dom.js';
import {makeBar, setLevel} from './bars.js';
import {makeName, measureAgain, setName} from './names.js';
import {NONE, aged, span} from './words.js';

const DOTS = 8; // if more clients wait, only their number is shown

export const keyOf = (entry) => entry.status ? entry.status.key : entry.observed ? entry.observed.key : '?';

// The state of a lock: the class of its sign, and what is said.
function stateOf(status) {
  if (!status) { return ['unasked', 'not asked yet']; }
  if (status.held === null) { return ['unknown', 'not known']; }
  if (status.held) { return ['held', 'held']; }
  return status.reserved_for ? ['reserved', 'reserved'] : ['free', 'free'];
}

const makeState = () => make('span', 'state', make('span', 'sign'), make('span'));

function setState(element, [sign, words]) {
  setClass(element.firstChild, 'sign ' + sign);
  setText(element.lastChild, words);
}

/* ---- cells ---- */

const makeLeft = () => cell('Time left', 'left', make('span', 'figure'), makeBar());

function setLeft(element, status, age, full) {
  const ttl = status && status.held ? status.ttl_ms : null;
  setText(element.firstChild, ttl === null ? NONE : ttl < 0 ? 'never expires' : span(aged(ttl, age)));
  element.lastChild.hidden = ttl === null;
  element.classList.toggle('nothing', ttl === null);
  setLevel(element.lastChild, ttl, age, full);
}

const makeQueue = () => cell('Waiting', 'queue', make('span', 'figure'), make('span', 'dots'));

function setQueue(element, status) {
  const waiters = status ? status.waiters : null;
  setText(element.firstChild, waiters === null ? NONE : String(waiters));
  element.lastChild.hidden = !waiters;
  setVariable(element.lastChild, '--n', String(Math.min(waiters ?? 0, DOTS)));
  element.classList.toggle('long', waiters > DOTS);
}

const makeHolder = () => cell('Holder', 'holder', makeName(), make('span', 'sub'));

function setHolder(element, status) {
  const holder = !status ? '' : status.held ? status.leader || status.owner || status.token : status.reserved_for ?? '';
  const number = status && (status.term ?? status.fencing_token);
  setName(element.firstChild, holder || NONE);
  element.classList.toggle('nothing', !holder);
  setText(element.lastChild, !number ? '' : (status.term ? 'term ' : 'fencing token ') + number);
}

/* ---- rows ---- */

// `extras` are the cells of the masters; `setExtras` is called with the row when they may have changed.
export function makeRow(extras, setExtras) {
  const parts = {name: makeName(), state: makeState(), seen: make('span'), kind: make('span', '', 'election'),
    holder: makeHolder(), left: makeLeft(), queue: makeQueue()};
  const head = headCell(parts.name);
  head.append(make('span', 'sub', parts.state, parts.seen, parts.kind));
  const made = row(head, parts.holder, parts.left, ...extras, parts.queue);
  Object.assign(made, {parts, extras, setExtras, full: 0});
  whenDrawn(made, () => refresh(made));
  return made;
}

// A bar is full at the longest TTL that was seen of this holder.
function noteFull(made, status) {
  const ttls = status ? [status.ttl_ms ?? 0, ...status.nodes.map((node) => node.ttl_ms ?? 0)] : [0];
  const same = status && made.token === status.token;
  made.full = Math.max(same ? made.full : 0, ...ttls);
  made.token = status && status.token;
}

// What changes each second: not done for rows that nobody sees.
function setTimes(made) {
  const {status, asked_ms: age, seen_ms: seen} = made.entry;
  setText(made.parts.seen, status && status.held && seen !== null ? 'seen for ' + span(seen, 0) : '');
  setLeft(made.parts.left, status, age, made.full);
  made.setExtras(made);
}

function refresh(made) {
  setTimes(made);
  measureAgain(made.parts.name, made.parts.holder.firstChild);
}

// Everything that is said, except the times.
function factsOf({election, status}) {
  if (!status) { return String(election); }
  const {key, held, owner, reserved_for: next, token, leader, term, fencing_token: number, waiters, nodes} = status;
  return [election, key, held, owner, next, token, leader, term, number, waiters,
    ...nodes.map((node) => node.reply + node.token + node.error)].join('\n');
}

export function setRow(made, entry) {
  const {status} = entry;
  const {name, state, kind, holder, queue} = made.parts;
  const facts = factsOf(entry);
  made.entry = entry;
  noteFull(made, status);
  if (!made.skipped || facts !== made.facts) { setTimes(made); }
  if (facts === made.facts) { return; }
  made.facts = facts;
  setName(name, keyOf(entry));
  setState(state, stateOf(status));
  kind.hidden = !entry.election;
  setHolder(holder, status);
  setQueue(queue, status);
}
