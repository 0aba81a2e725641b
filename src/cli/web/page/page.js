// Follows /events, and shows each state that comes.
import {byId, setAttribute, setText} from './dom.js';
import {setMotion} from './bars.js';
import {showElections} from './elections.js';
import {showEvents} from './events.js';
import {followList} from './listed.js';
import {showLocks} from './locks.js';
import {showMasters, showRecord} from './masters.js';
import {markShortened} from './names.js';
import {learnTerms} from './terms.js';
import {showVerdict} from './verdict.js';

const OLD_MS = 5000; // a state comes every second

let paused = false;
let newest = null; // the state that came last
let current = null; // the state that is shown
let source = null;
let heard = null; // when the last state came
let title = 'redlock';

function show(state) {
  current = state;
  title = showVerdict(state);
  setMotion(state.keys.length * (state.masters.length + 1));
  showLocks(state);
  showElections(state);
  showMasters(state);
  showRecord(state);
  showEvents(state.events);
  followList(state.list);
  markShortened();
}

// What is said of the connection is what was heard over it, and nothing else.
function showLink() {
  const old = heard !== null && Date.now() - heard > OLD_MS;
  const lost = source.readyState !== EventSource.OPEN || old;
  let text = paused ? 'Paused.' : 'Connected.';
  if (lost && heard === null) {
    text = source.readyState === EventSource.CLOSED ? '\u26a0 Not connected: trying again.' : 'Connecting.';
  } else if (lost) {
    text = (paused ? 'Paused. ' : '') + '\u26a0 Not connected: what is shown is old.';
  }
  setText(byId('link'), text);
  document.body.classList.toggle('lost', lost);
  document.body.classList.toggle('old', lost || paused);
  document.title = lost && heard !== null ? '\u26a0 not connected \u2013 redlock' : title;
}

function pause() {
  paused = !paused;
  setAttribute(byId('pause'), 'aria-pressed', String(paused));
  setText(byId('pause'), paused ? 'Go on' : 'Pause');
  if (!paused && newest) { show(newest); }
  showLink();
}

function hear(message) {
  newest = JSON.parse(message.data);
  heard = Date.now();
  learnTerms(newest);
  if (!paused) { show(newest); }
  showLink();
}

function connect() {
  source = new EventSource('events');
  source.addEventListener('state', hear);
  source.addEventListener('error', showLink);
}

// A browser gives up when it is refused, as one page too many is.
function check() {
  if (source.readyState === EventSource.CLOSED) { connect(); }
  showLink();
}

byId('pause').addEventListener('click', pause);
byId('span').addEventListener('change', () => { if (current) { showElections(current); } });
connect();
showLink();
setInterval(check, 1000);
