// How numbers, times and names are written.

export const NONE = '\u2013';

// Characters that show nothing, or turn the text after them, are shown as their numbers.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]/g;

export const visible = (text) => text.replace(HIDDEN, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

export const plural = (n, one, many) => n + ' ' + (n === 1 ? one : many ?? one + 's');

function longSpan(ms) {
  const minutes = Math.floor(ms / 60000);
  if (minutes < 120) { return minutes + ' min ' + Math.floor(ms % 60000 / 1000) + ' s'; }
  if (minutes < 2880) { return Math.floor(minutes / 60) + ' h ' + minutes % 60 + ' min'; }
  return Math.floor(minutes / 1440) + ' d ' + Math.floor(minutes % 1440 / 60) + ' h';
}

// `digits` after the point, below two minutes.
export function span(ms, digits = 1) {
  if (ms === null || ms === undefined) { return NONE; }
  if (ms < 0) { return 'without end'; }
  return ms < 120000 ? (ms / 1000).toFixed(digits) + ' s' : longSpan(ms);
}

export const left = (ms, digits) => ms < 0 ? 'never expires' : span(ms, digits) + ' left';

// How much of a TTL is left when the reply is this old.
export const aged = (ttl, age) => ttl > 0 ? Math.max(0, ttl - age) : ttl;

export const milliseconds = (us) => (us / 1000).toFixed(us < 10000 ? 2 : 1) + ' ms';

export const timeOfDay = (ms) => new Date(ms).toLocaleTimeString('en-GB');

export function dateAndTime(ms) {
  const date = new Date(ms);
  const today = date.toDateString() === new Date().toDateString();
  return (today ? '' : date.toLocaleDateString('en-CA') + ' ') + date.toLocaleTimeString('en-GB');
}
