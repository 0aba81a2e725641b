// Bars of the time left. Between two states, which come once a second, they run down by a transition
// of CSS; when people want less motion, or there are very many, they step.
import {make, setVariable} from './dom.js';
import {aged} from './words.js';

const STEP_MS = 1000;
const MANY = 600; // more bars than this step: the browser would be busy with them all the time

const calm = matchMedia('(prefers-reduced-motion: reduce)');

export const makeBar = () => make('span', 'bar');

export function setMotion(bars) {
  document.body.classList.toggle('steps', calm.matches || bars > MANY);
}

// A transition ends at what will be left when the next state comes.
const ahead = () => document.body.classList.contains('steps') ? 0 : STEP_MS;

// `full` is the TTL of a full bar. A renewal fills it at once. Without an age the bar stands still.
export function setLevel(bar, ttl, age, full) {
  const part = ttl === null ? 0 : ttl < 0 ? 1 : full > 0 ? (age === null ? ttl : aged(ttl, age + ahead())) / full : 0;
  const before = Number(bar.style.getPropertyValue('--level') || 0);
  bar.classList.toggle('rises', part > before);
  setVariable(bar, '--level', Math.min(1, part).toFixed(4));
}
