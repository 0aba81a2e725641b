// Shows the state that /events sends. All that comes from elsewhere is set as text, never as HTML.
'use strict';

const byId = (id) => document.getElementById(id);

const OLD_MS = 5000; // a state comes every second

let paused = false;
let newest = null;
let source = null;
let heard = null; // when the last state came
let summary = 'redlock';
let listed = 0; // the number of the list that is shown

// Characters that show nothing, or turn the text after them, are shown as their numbers.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]/g;
const visible = (text) => text.replace(HIDDEN, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

function span(ms) {
  if (ms === null || ms === undefined) { return '\u2013'; }
  if (ms < 0) { return 'without end'; }
  if (ms < 120000) { return (ms / 1000).toFixed(1) + ' s'; }
  const minutes = Math.floor(ms / 60000);
  if (minutes < 120) { return minutes + ' min ' + Math.floor(ms % 60000 / 1000) + ' s'; }
  return Math.floor(minutes / 60) + ' h ' + minutes % 60 + ' min';
}

function setText(element, raw) {
  const text = visible(raw);
  if (element.textContent !== text) { element.textContent = text; }
}

// Each row is a list of texts; one that begins with "!" is a problem. Cells are kept, so that a
// screen reader is not thrown out of the table.
function fill(table, rows, empty) {
  const body = byId(table).tBodies[0];
  const columns = byId(table).tHead.rows[0].cells.length;
  const single = rows.length === 0;
  const wanted = single ? [[empty]] : rows;

  while (body.rows.length > wanted.length) { body.deleteRow(-1); }
  wanted.forEach((texts, i) => {
    let row = body.rows[i];
    if (row && row.cells.length !== texts.length) { row.remove(); row = null; }
    if (!row || row.parentNode !== body) {
      row = body.insertRow(i);
      texts.forEach((text, j) => {
        const cell = document.createElement(j === 0 && !single ? 'th' : 'td');
        if (j === 0 && !single) { cell.scope = 'row'; }
        if (single) { cell.colSpan = columns; cell.className = 'empty'; }
        row.append(cell);
      });
    }
    texts.forEach((text, j) => {
      const bad = j > 0 && typeof text === 'object';
      setText(row.cells[j], bad ? text.bad : String(text));
      if (!single) { row.cells[j].className = bad ? 'bad' : ''; }
    });
  });
}

const bad = (text) => ({bad: '\u26a0 ' + text});

function votes(master) {
  if (master.state === 'down' || master.state === 'connecting') { return bad('no'); }
  if (master.quarantine_ms < 0) { return bad('no: in quarantine'); }
  if (master.quarantine_ms > 0) { return bad('in quarantine for ' + span(master.quarantine_ms)); }
  return 'count';
}

function stateOf(master) {
  if (master.state === 'up') { return 'up'; }
  return bad(master.state + ' for ' + span(master.down_ms));
}

/* Against the median of all masters. */
function clock(master) {
  if (master.clock_us === null) { return '\u2013'; }
  const ms = (us) => (us / 1000).toFixed(1);
  const ahead = ms(master.clock_us).replace('-0.0', '0.0');
  return (ahead > 0 ? '+' : '') + ahead + ' ms (\u00b1' +
    ms(master.clock_error_us) + ')';
}

function masterRow(master) {
  return [master.node, stateOf(master), votes(master),
    master.rtt_us === null ? '\u2013' : (master.rtt_us / 1000).toFixed(3) + ' ms',
    clock(master), [master.server, master.tls].filter(Boolean).join(', ') || '\u2013', master.error || '\u2013'];
}

const key = (entry) => entry.status ? entry.status.key : entry.observed ? entry.observed.key : '?';

function lockRow(entry, masters) {
  const status = entry.status;
  if (!status) { return [key(entry), 'not asked yet', '\u2013', '\u2013', '\u2013', '\u2013', '\u2013']; }
  const where = masters.map((master, i) => status.nodes[i].reply === 'held' ? i + 1 : 0).filter(Boolean);
  const left = status.ttl_ms > 0 ? Math.max(0, status.ttl_ms - entry.asked_ms) : status.ttl_ms;
  return [status.key, status.held === null ? bad('not known') : status.held ? 'held' : status.reserved_for ? 'reserved' : 'free',
    status.held ? status.owner || status.token : '\u2013', status.held ? span(entry.seen_ms) : '\u2013',
    status.held ? span(left) : '\u2013',
    where.length + ' of ' + masters.length + (where.length ? ' (' + where.join(', ') + ')' : ''),
    status.waiters === null ? '\u2013' : status.waiters];
}

function listRow(status) {
  return [status.key, status.held === null ? bad('not known') : 'held', status.owner || status.token || '\u2013',
    span(status.ttl_ms), status.fencing_token || '\u2013',
    status.holding + ' of ' + status.nodes.length,
    status.waiters === null ? '\u2013' : status.waiters];
}

function showList(list) {
  list.keys.sort((a, b) => a.key < b.key ? -1 : 1);
  setText(byId('list-summary'), (list.complete ? '' : '\u26a0 Locks may be missing. ') +
    (list.keys.length + list.more) + ' locks' + (list.more ? ', of which ' + list.keys.length + ' are shown' : '') +
    '; listed with ' + list.commands + ' commands in ' + span(list.elapsed_ms) + '.');
  fill('all', list.keys.map(listRow), 'Nothing is locked.');
}

// Each list is fetched once.
function follow(list) {
  byId('listed').hidden = !list;
  if (!list || list.lists === listed) { return; }
  const before = listed;
  listed = list.lists;
  fetch('list').then((reply) => reply.json()).then((last) => { if (last) { showList(last); } })
    .catch(() => { listed = before; });
}

function electionRow(entry) {
  const known = entry.observed && entry.observed.known;
  return [key(entry), !known ? bad('not known') : entry.observed.leader || 'nobody',
    known && entry.observed.value || '\u2013', known && entry.observed.term || '\u2013'];
}

function showEvents(events) {
  const list = byId('events');
  const last = list.firstChild ? Number(list.firstChild.dataset.id) : 0;
  const known = new Set(events.map((event) => event.id));
  if (last && !known.has(last)) { list.replaceChildren(); }
  for (const event of events.filter((one) => !list.firstChild || one.id > Number(list.firstChild.dataset.id))) {
    const item = document.createElement('li');
    const when = document.createElement('time');
    const time = new Date(event.time_ms);
    item.dataset.id = event.id;
    when.dateTime = time.toISOString();
    when.textContent = time.toLocaleTimeString('en-GB');
    item.append(when);
    for (const text of [event.kind, event.name, event.text]) {
      const part = document.createElement('span');
      setText(part, text);
      item.append(part);
    }
    list.prepend(item);
  }
  while (list.children.length > 50) { list.lastChild.remove(); }
}

function showRecord(record, masters) {
  const incomplete = record.epoch !== null && record.shown_by < masters;
  setText(byId('record'), record.state === 'off' ? '' :
    (record.state === 'other' || incomplete ? '\u26a0 ' : '') + 'Record of the masters: ' + record.text + '.');
}

function show(state) {
  const voting = state.masters.filter((master) => master.state === 'up' && master.quarantine_ms === 0).length;
  const votes = voting + ' of ' + state.masters.length + ' masters vote';
  summary = (voting < state.masters.length ? '\u26a0 ' : '') + votes + ' \u2013 redlock';
  setText(byId('summary'), votes + ', quorum ' + state.quorum +
    (voting < state.quorum ? ': \u26a0 no lock can be acquired' : ''));
  fill('masters', state.masters.map((master, i) => {
    const row = masterRow(master);
    row[0] = (i + 1) + '. ' + row[0];
    return row;
  }), 'None.');
  showRecord(state.record, state.masters.length);
  fill('locks', state.keys.map((entry) => lockRow(entry, state.masters)),
    'No keys were given: redlock web KEY...');
  fill('elections', state.keys.filter((entry) => entry.election).map(electionRow),
    'Nobody has led one of the keys since this began.');
  follow(state.list);
  showEvents(state.events);
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
  document.body.classList.toggle('old', lost || paused);
  document.title = lost && heard !== null ? '\u26a0 not connected \u2013 redlock' : summary;
}

function pause() {
  paused = !paused;
  byId('pause').setAttribute('aria-pressed', String(paused));
  setText(byId('pause'), paused ? 'Go on' : 'Pause');
  if (!paused && newest) { show(newest); }
  showLink();
}

function connect() {
  source = new EventSource('events');
  source.addEventListener('state', (message) => {
    newest = JSON.parse(message.data);
    heard = Date.now();
    if (!paused) { show(newest); }
    showLink();
  });
  source.addEventListener('error', showLink);
}

// A browser gives up when it is refused, as one page too many is.
function check() {
  if (source.readyState === EventSource.CLOSED) { connect(); }
  showLink();
}

byId('pause').addEventListener('click', pause);
connect();
showLink();
setInterval(check, 1000);
