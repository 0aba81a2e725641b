// The masters: their states, and round trips as lines.
import {byId, cell, headCell, make, row, setClass, setText, sync} from './dom.js';
import {makeName, setName} from './names.js';
import {addFigure, makeSparkline} from './sparkline.js';
import {NONE, milliseconds, span, visible} from './words.js';

export const votes = (master) => master.state === 'up' && master.quarantine_ms === 0;

function vote(master) {
  if (votes(master)) { return 'votes'; }
  if (master.quarantine_ms < 0) { return 'no vote: in quarantine'; }
  if (master.quarantine_ms > 0) { return 'no vote: in quarantine for ' + span(master.quarantine_ms, 0); }
  return 'no vote';
}

export const stateOf = (master) => master.state === 'up' ? 'up' : master.state + ' for ' + span(master.down_ms, 0);

// How far the clock of a master is from the median of all masters.
function clock(master) {
  if (master.clock_us === null) { return NONE; }
  const ms = (us) => (us / 1000).toFixed(1);
  const ahead = ms(master.clock_us).replace('-0.0', '0.0');
  return (ahead > 0 ? '+' : '') + ahead + ' ms (\u00b1' + ms(master.clock_error_us) + ')';
}

function makeRow() {
  const parts = {number: make('span', 'number'), name: makeName(), server: make('span', 'sub'), sign: make('span', 'sign'),
    state: make('span'), vote: make('span', 'sub'), spark: makeSparkline(), rtt: make('span', 'figure'),
    clock: cell('Clock', 'clock'), error: cell('Trouble', 'error')};
  const head = headCell(make('span', 'numbered', parts.number, parts.name));
  head.append(parts.server);
  const made = row(head, cell('State', 'status', make('span', 'state', parts.sign, parts.state), parts.vote),
    cell('Round trip', 'rtt', parts.rtt, parts.spark), parts.clock, parts.error);
  made.parts = parts;
  return made;
}

function rttWords(figures) {
  const known = figures.filter((figure) => figure !== null);
  return known.length ? 'between ' + milliseconds(Math.min(...known)) + ' and ' + milliseconds(Math.max(...known)) + ' lately' : 'no round trip yet';
}

function setRow(made, master, i) {
  const {number, name, server, sign, state, spark, rtt, error} = made.parts;
  const figure = master.state === 'up' ? master.rtt_us : null;
  setText(number, String(i + 1));
  setName(name, master.node);
  setText(server, visible([master.server, master.tls].filter(Boolean).join(', ')));
  setClass(sign, 'sign ' + (votes(master) ? 'held' : master.state === 'up' ? 'unknown' : 'none'));
  setText(state, stateOf(master));
  setText(made.parts.vote, vote(master));
  setText(rtt, figure === null ? NONE : milliseconds(figure));
  addFigure(spark, figure, rttWords(spark.figures));
  setText(made.parts.clock, clock(master));
  setText(error, visible(master.error) || NONE);
  error.classList.toggle('nothing', !master.error);
}

export function showMasters(state) {
  sync(byId('masters').tBodies[0], state.masters, (master) => master.node, makeRow, setRow);
}

export function recordTrouble(state) {
  const {record, masters} = state;
  return record.state === 'other' || record.epoch !== null && record.shown_by < masters.length;
}

export function showRecord(state) {
  const {record} = state;
  setText(byId('record'), record.state === 'off' ? '' :
    (recordTrouble(state) ? '\u26a0 ' : '') + 'Record of the masters: ' + visible(record.text) + '.');
}
