// Says first whether everything is all right, and if not, what is wrong.
import {byId, make, setClass, setText, sync} from './dom.js';
import {keyOf} from './rows.js';
import {recordTrouble, stateOf, votes} from './masters.js';
import {makeName, setName} from './names.js';
import {plural, span, visible} from './words.js';

const SHOWN = 6; // if there are more troubles, only their number is shown

function masterTrouble(master, i) {
  const why = master.state !== 'up' ? stateOf(master) :
    master.quarantine_ms < 0 ? 'in quarantine' : 'in quarantine for ' + span(master.quarantine_ms, 0);
  return {name: (i + 1) + '. ' + master.node, text: why + (master.error ? ': ' + visible(master.error) : '')};
}

function lockTroubles(keys) {
  const unknown = keys.filter((entry) => entry.status && entry.status.held === null);
  return unknown.length > 2 ? [{name: unknown.length + ' locks', text: 'it is not known who holds them'}] :
    unknown.map((entry) => ({name: keyOf(entry), text: 'it is not known who holds it'}));
}

function troubles(state) {
  const masters = state.masters.map((master, i) => votes(master) ? null : masterTrouble(master, i)).filter(Boolean);
  const record = recordTrouble(state) ? [{name: 'Record of the masters', text: visible(state.record.text)}] : [];
  return [...lockTroubles(state.keys), ...record, ...masters];
}

// The class of the sign, and what is said.
function judge(state, voting, wrong) {
  const n = state.masters.length;
  if (voting < state.quorum) { return ['bad', 'No lock can be acquired']; }
  if (voting < n) { return ['warn', 'Locks work, but ' + (n - voting === 1 ? 'a master does' : n - voting + ' masters do') + ' not vote']; }
  return wrong.length ? ['warn', 'Locks work, but something needs attention'] : ['good', 'All is well'];
}

function reserve(voting, quorum) {
  const spare = voting - quorum;
  if (spare < 0) { return ': ' + plural(-spare, 'vote') + ' missing'; }
  return spare === 0 ? ': no other master may fail' : ': ' + spare + ' more may fail';
}

function showVotes(state) {
  sync(byId('votes'), state.masters, (master) => master.node, () => make('span'),
    (made, master) => setClass(made, 'vote ' + (votes(master) ? 'yes' : 'no')));
}

function showTroubles(wrong) {
  const more = wrong.length - SHOWN;
  sync(byId('troubles'), wrong.slice(0, SHOWN), (trouble) => trouble.name, () => make('li', '', makeName(), make('span')),
    (made, trouble) => {
      setName(made.firstChild, trouble.name);
      setText(made.lastChild, trouble.text);
    });
  setText(byId('more-troubles'), more > 0 ? 'and ' + more + ' more' : '');
}

// Returns the title of the window.
export function showVerdict(state) {
  const voting = state.masters.filter(votes).length;
  const wrong = troubles(state);
  const [kind, words] = judge(state, voting, wrong);
  const text = voting + ' of ' + state.masters.length + ' masters vote';
  setClass(byId('verdict'), kind);
  setText(byId('headline'), words);
  setText(byId('summary'), text + ', quorum ' + state.quorum + reserve(voting, state.quorum));
  showVotes(state);
  showTroubles(wrong);
  return (kind === 'good' ? '' : '\u26a0 ') + text + ' \u2013 redlock';
}
