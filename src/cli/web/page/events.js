// What has happened, the newest first, with a filter by kind and text.
import {byId, make, setText} from './dom.js';
import {makeName, markShortened, setName} from './names.js';
import {dateAndTime, visible} from './words.js';

const KEPT = 200; // more than the server keeps

let newest = null; // the newest event that is shown

const kinds = () => new Set([...document.querySelectorAll('#kinds [aria-pressed=true]')].map((button) => button.value));

function filterOf() {
  const chosen = kinds();
  const text = byId('events-filter').value.trim().toLowerCase();
  return (item) => (chosen.size === 0 || chosen.has(item.event.kind)) && (!text || item.found.includes(text));
}

function applyFilter() {
  const matches = filterOf();
  const items = [...byId('events').children];
  for (const item of items) { item.hidden = !matches(item); }
  const shown = items.filter((item) => !item.hidden).length;
  setText(byId('events-count'), shown === items.length ? '' : shown + ' of ' + items.length);
  byId('no-events').hidden = shown > 0;
  setText(byId('no-events'), items.length ? 'No event is like this.' : 'Nothing has happened yet.');
}

function makeItem(event) {
  const when = make('time');
  const kind = make('span', 'kind');
  when.dateTime = new Date(event.time_ms).toISOString();
  setText(when, dateAndTime(event.time_ms));
  setText(kind, event.kind);
  const item = make('li', '', when, kind, setName(makeName(), event.name), make('span', 'what', visible(event.text)));
  item.event = event;
  item.found = [event.kind, event.name, event.text].map(visible).join('\n').toLowerCase();
  return item;
}

// A server that was started again numbers its events from 1.
function isRestarted(events) {
  const again = newest && events.find((event) => event.id === newest.id);
  return newest && (events.length === 0 || events[events.length - 1].id < newest.id || again && again.time_ms !== newest.time_ms);
}

export function showEvents(events) {
  const list = byId('events');
  if (isRestarted(events)) { newest = null; list.replaceChildren(); }
  const fresh = events.filter((event) => !newest || event.id > newest.id);
  if (fresh.length === 0 && list.firstChild) { return; }
  const matches = filterOf();
  for (const event of fresh) {
    const item = makeItem(event);
    item.hidden = !matches(item);
    list.prepend(item);
    newest = event;
  }
  while (list.children.length > KEPT) { list.lastChild.remove(); }
  applyFilter();
}

function choose(click) {
  const button = click.target.closest('button');
  if (!button) { return; }
  button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
  applyFilter();
  markShortened();
}

byId('kinds').addEventListener('click', choose);
byId('events-filter').addEventListener('input', applyFilter);
