// Builds elements and changes them in place. What comes from elsewhere is set as text, never as HTML.

export const byId = (id) => document.getElementById(id);

export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) { element.className = className; }
  element.append(...children);
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) { element.textContent = text; }
}

export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) { element.setAttribute(name, value); }
}

export function setClass(element, name) {
  if (element.className !== name) { element.className = name; }
}

// Sets a CSS variable. The server allows no style attribute, but a script may set a single property.
export function setVariable(element, name, value) {
  if (element.style.getPropertyValue(name) !== value) { element.style.setProperty(name, value); }
}

const shown = new WeakMap(); // for a parent: its children by key

function uniqueKeys(items, keyOf) {
  const keys = new Set();
  for (const item of items) {
    let key = keyOf(item);
    while (keys.has(key)) { key += '\0'; }
    keys.add(key);
  }
  return [...keys];
}

function dropOthers(children, keys) {
  const wanted = new Set(keys);
  for (const [key, child] of children) {
    if (!wanted.has(key)) { child.remove(); children.delete(key); }
  }
}

// Makes one child of each item, in their order. A child stays the same element as long as there is an
// item with its key: focus, scrolling and screen readers stay where they are.
export function sync(parent, items, keyOf, create, update) {
  const children = shown.get(parent) ?? new Map();
  const keys = uniqueKeys(items, keyOf);
  dropOthers(children, keys);
  let place = parent.firstElementChild;
  items.forEach((item, i) => {
    const child = children.get(keys[i]) ?? create(item);
    children.set(keys[i], child);
    update(child, item, i);
    if (child === place) { place = place.nextElementSibling; } else { parent.insertBefore(child, place); }
  });
  shown.set(parent, children);
}

// Tables have explicit roles, because their rows are grids, or cards on narrow screens, and these have
// no roles by themselves. The browser can skip rows that are grids while they are out of sight.
export function headCell(label) {
  const cell = make('th', '', label);
  cell.scope = 'row';
  cell.setAttribute('role', 'rowheader');
  return cell;
}

// `label` is the name of the column, which a card shows.
export function cell(label, className, ...children) {
  const made = make('td', className, ...children);
  made.setAttribute('role', 'cell');
  if (label) { made.dataset.label = label; }
  return made;
}

export function row(...cells) {
  const made = make('tr', '', ...cells);
  made.setAttribute('role', 'row');
  return made;
}

// Notes in `skipped` whether a row is so far from the window that the browser does not draw it, and calls
// back when it comes near.
export function whenDrawn(element, callback) {
  element.addEventListener('contentvisibilityautostatechange', (event) => {
    element.skipped = event.skipped;
    if (!event.skipped) { callback(); }
  });
}

export function columnHead({text, name}) {
  const made = make('th', name, text);
  made.scope = 'col';
  made.setAttribute('role', 'columnheader');
  return made;
}
