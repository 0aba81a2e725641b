// All locks under a prefix. Each list is fetched once.
import {byId, cell, setText, sync} from './dom.js';
import {markShortened} from './names.js';
import {makeRow, setRow} from './rows.js';
import {plural, span, visible} from './words.js';

let fetched = 0; // the number of the list that is shown
let found = []; // the locks in it

const makeListRow = () => makeRow([cell('Masters')], ({entry: {status}, extras}) =>
  setText(extras[0], status.holding + ' of ' + status.nodes.length));

// Times stay as they were in the list.
const entryOf = (status) => ({status, election: status.leader !== null, seen_ms: null, asked_ms: null});

const has = (status, text) => [status.key, status.owner ?? ''].some((word) => visible(word).toLowerCase().includes(text));

function showFound() {
  const text = byId('list-filter').value.trim().toLowerCase();
  const wanted = found.filter((status) => has(status, text));
  const body = byId('all').tBodies[0];
  sync(body, wanted, (status) => status.key, makeListRow, (made, status) => setRow(made, entryOf(status)));
  byId('list-grid').hidden = wanted.length === 0;
  byId('no-list').hidden = wanted.length > 0;
  setText(byId('no-list'), found.length ? 'No key or holder has this text.' : 'Nothing is locked.');
  markShortened();
}

function showList(list) {
  found = list.keys.sort((a, b) => a.key < b.key ? -1 : 1);
  setText(byId('list-summary'), (list.complete ? '' : '\u26a0 Locks may be missing. ') +
    plural(found.length + list.more, 'lock') + (list.more ? ', of which ' + found.length + ' are shown' : '') +
    '; listed with ' + plural(list.commands, 'command') + ' in ' + span(list.elapsed_ms, list.elapsed_ms < 1000 ? 3 : 1) + '.');
  showFound();
}

export function followList(list) {
  byId('listed').hidden = byId('to-listed').hidden = !list;
  if (!list || list.lists === fetched) { return; }
  const before = fetched;
  fetched = list.lists;
  fetch('list').then((reply) => reply.json()).then((last) => { if (last) { showList(last); } })
    .catch(() => { fetched = before; });
}

byId('list-filter').addEventListener('input', showFound);
