// The grid of locks and masters: who has which key where, and for how much longer.
import {byId, cell, columnHead, make, setAttribute, setClass, setText, setVariable, sync} from './dom.js';
import {setLevel} from './bars.js';
import {keyOf, makeRow, setRow} from './rows.js';
import {aged, left, plural, visible} from './words.js';

// What a master has of a key: the class of the cell, and what is said.
function tileOf(status, node) {
  if (!status || !node) { return ['unasked', 'not asked yet']; }
  if (node.reply === 'none') { return ['none', 'no reply' + (node.error ? ': ' + node.error : '')]; }
  if (node.reply === 'free') { return ['free', 'does not have the key']; }
  if (!status.held) { return ['other', 'has the key, ' + (status.held === null ? 'and it is not known who holds it' : 'but no majority does')]; }
  return node.token === status.token ? ['held', 'has the key'] : ['other', 'has the key for another holder'];
}

// Only attributes change from state to state, so that thousands of cells are not laid out again.
function setTile(tile, name, status, node, age, full) {
  const [kind, words] = tileOf(status, node);
  const has = kind === 'held' || kind === 'other';
  const said = visible(words) + (has ? ', ' + left(aged(node.ttl_ms, age), 0) : '');
  const box = tile.firstChild;
  setAttribute(box, 'data-has', kind);
  setAttribute(box, 'aria-label', said);
  setAttribute(tile, 'title', visible(name) + ': ' + said);
  setLevel(box, kind === 'held' ? node.ttl_ms : null, age, full);
}

function makeTile(label) {
  const box = make('span', 'box');
  box.setAttribute('role', 'img');
  return cell(label, 'tile', box);
}

function showHeads(masters) {
  const table = byId('locks');
  const tiles = masters.map((master, i) => ({text: String(i + 1), name: 'tile', title: visible(master.node)}));
  const heads = [{text: 'Lock'}, {text: 'Holder'}, {text: 'Time left', name: 'left'}, ...tiles, {text: 'Waiting', name: 'queue'}];
  setVariable(table, '--masters', String(masters.length));
  setClass(table, 'cards ' + (masters.length > 20 ? 'tiny' : masters.length > 9 ? 'small' : 'large'));
  sync(table.tHead.rows[1], heads, (head) => head.text, columnHead, (made, head) => setAttribute(made, 'title', head.title ?? ''));
}

function setTiles(made) {
  const {status, asked_ms: age} = made.entry;
  made.extras.forEach((tile, i) => setTile(tile, made.masters[i].node, status, status && status.nodes[i], age, made.full));
}

const makeGridRow = (masters) => makeRow(masters.map((_, i) => makeTile(String(i + 1))), setTiles);

function counts(keys) {
  const asked = keys.map((entry) => entry.status).filter(Boolean);
  const held = asked.filter((status) => status.held).length;
  const unknown = asked.filter((status) => status.held === null).length;
  const waiting = asked.reduce((sum, status) => sum + (status.waiters ?? 0), 0);
  return [held + ' of ' + keys.length + ' held', unknown && unknown + ' not known',
    waiting && plural(waiting, 'client') + ' waiting'].filter(Boolean).join(', ');
}

export function showLocks(state) {
  const {keys, masters} = state;
  showHeads(masters);
  setText(byId('locks-count'), keys.length ? counts(keys) : '');
  byId('no-locks').hidden = keys.length > 0;
  byId('locks-grid').hidden = byId('legend').hidden = keys.length === 0;
  const body = byId('locks').tBodies[0];
  sync(body, keys, (entry) => masters.length + ' ' + keyOf(entry), () => makeGridRow(masters), (made, entry) => {
    made.masters = masters;
    setRow(made, entry);
  });
}
