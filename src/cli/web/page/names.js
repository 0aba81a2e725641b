// Shows names of any length: the middle of a long one is hidden where there is no room for it. The text
// in the page stays whole, for screen readers and for copying. A shortened name can be focused, and then
// shows everything.
import {make, setText, setAttribute} from './dom.js';
import {visible} from './words.js';

const TAIL = 10; // characters of the end that stay

const unmeasured = new Set(); // names whose text or room has changed

export const makeName = (tag = 'span') => make(tag, 'name', make('span', 'head'), make('span', 'tail'));

export function setName(element, raw) {
  const text = visible(raw);
  if (element.textContent === text) { return element; }
  const tail = text.length > 2 * TAIL ? [...text].slice(-TAIL).join('') : '';
  setText(element.firstChild, text.slice(0, text.length - tail.length));
  setText(element.lastChild, tail);
  setAttribute(element, 'title', text);
  unmeasured.add(element);
  return element;
}

// Parts of a picture cannot be focused.
const canBeShown = (name) => name !== document.activeElement && !name.closest('[role=img]') &&
  name.checkVisibility({contentVisibilityAuto: true});

const isShortened = (name) => name.firstChild.scrollWidth > name.firstChild.clientWidth;

export const measureAgain = (...names) => { names.forEach((name) => unmeasured.add(name)); };

// What is far from the window has no size yet. Sizes are read together and written together, so that
// the browser lays out the page once.
export function markShortened() {
  const names = [...unmeasured].filter(canBeShown);
  unmeasured.clear();
  const shortened = names.map(isShortened);
  names.forEach((name, i) => {
    if (shortened[i]) { setAttribute(name, 'tabindex', '0'); } else { name.removeAttribute('tabindex'); }
  });
}

addEventListener('resize', () => {
  measureAgain(...document.querySelectorAll('.name'));
  markShortened();
});
