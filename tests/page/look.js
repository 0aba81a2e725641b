// Asks a page how it looks; tests/page/test_look.py runs it there.

const rgba = (text) => {
  const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
  return {r, g, b, a};
};
const over = (top, below) => ({a: 1, ...Object.fromEntries(['r', 'g', 'b'].map((c) => [c, top[c] * top.a + below[c] * (1 - top.a)]))});

const luminance = ({r, g, b}) => [r, g, b].map((c) => c / 255)
  .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);

const contrast = (one, other) => {
  const [less, more] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
};

// The colours that may be behind an element: more than one if it has a pattern.
function backgrounds(element) {
  if (!element) { return [{r: 255, g: 255, b: 255, a: 1}]; }
  const style = getComputedStyle(element);
  const pattern = (style.backgroundImage.match(/rgba?\([^)]*\)/g) ?? []).map(rgba).filter((c) => c.a > 0);
  const layers = pattern.length ? pattern : [rgba(style.backgroundColor)];
  return layers.flatMap((layer) => layer.a === 1 ? [layer] : backgrounds(element.parentElement).map((below) => over(layer, below)));
}

// When cards are shown, the heads of tables are for screen readers only.
const isForReaders = (element) => innerWidth <= 720 && element.closest('thead');

const isVisible = (element) => element.checkVisibility({visibilityProperty: true}) && element.getClientRects().length > 0 &&
  element.getBoundingClientRect().right > 0 && !isForReaders(element);

const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());

// Everything that shows text, pseudo elements included.
function texts() {
  return [...document.body.querySelectorAll('*')].filter((e) => isVisible(e) && e.localName !== 'option').flatMap((element) => {
    const own = hasText(element) || element.localName === 'select' ? [[element, null]] : [];
    const made = ['::before', '::after'].filter((name) => !['none', '""'].includes(getComputedStyle(element, name).content));
    return [...own, ...made.map((name) => [element, name]), ...(element.placeholder ? [[element, '::placeholder']] : [])];
  });
}

const describe = (element, name) => element.localName + '.' + element.className + (name ?? '') + ' ' + element.textContent.slice(0, 20);

function weakTexts(least) {
  return texts().map(([element, name]) => {
    const colour = rgba(getComputedStyle(element, name).color);
    const worst = Math.min(...backgrounds(element).map((behind) => contrast(over(colour, behind), behind)));
    return [worst, describe(element, name)];
  }).filter(([worst]) => worst < least).map(([worst, what]) => worst.toFixed(2) + ' ' + what);
}

// The edges and fillings that carry meaning.
function weakShapes(least) {
  const card = backgrounds(document.getElementById('locks'));
  const edges = [...document.querySelectorAll('.box, .sign, .vote')].filter(isVisible)
    .filter((e) => parseFloat(getComputedStyle(e).borderTopWidth) > 0)
    .map((e) => [contrast(rgba(getComputedStyle(e).borderTopColor), card[0]), describe(e) + e.dataset.has]);
  const filled = [...document.querySelectorAll('[data-has=held], .bar')].filter(isVisible)
    .map((e) => [contrast(rgba(getComputedStyle(e, '::after').backgroundColor), backgrounds(e)[0]), 'filling of ' + describe(e)]);
  const lines = [...document.querySelectorAll('.spark .line')].map((e) => [contrast(rgba(getComputedStyle(e).stroke), card[0]), 'line']);
  return [...edges, ...filled, ...lines].filter(([worst]) => worst < least).map(([worst, what]) => worst.toFixed(2) + ' ' + what);
}

// What tells one kind of cell from another when there is no colour.
function shapes() {
  return Object.fromEntries([...document.querySelectorAll('#locks [data-has]')].map((box) => {
    const style = getComputedStyle(box);
    const has = (name) => getComputedStyle(box, name).content;
    return [box.dataset.has, [style.borderTopStyle, has('::before'), has('::after')].join(' ')];
  }));
}

const scrolls = (element) => element && (element.classList.contains('wide') || scrolls(element.parentElement));

// What is wider than the window.
function overflowing() {
  const wide = [...document.body.querySelectorAll('*')].filter((e) => isVisible(e) && !scrolls(e.parentElement) &&
    !e.closest('.name, .line, .skip') && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => describe(e));
  return document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth, ...wide] : wide;
}

// Texts that break into single letters: they have more lines than a fourth of their characters.
function broken() {
  return [...document.body.querySelectorAll('*')].filter((e) => isVisible(e) && hasText(e) && e.textContent.trim().length > 3).filter((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const lines = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size;
    return lines > Math.max(1, element.textContent.length / 4);
  }).map((element) => describe(element));
}
