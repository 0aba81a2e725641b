// A line of the last figures, drawn as SVG.
const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 120;
const HEIGHT = 28;
const EDGE = 3;
export const KEPT = 60; // figures

function draw(tag, name) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute('class', name);
  return element;
}

export function makeSparkline() {
  const svg = draw('svg', 'spark');
  svg.setAttribute('viewBox', '0 0 ' + WIDTH + ' ' + HEIGHT);
  svg.setAttribute('role', 'img');
  svg.append(draw('path', 'area'), draw('path', 'line'), draw('circle', 'last'));
  svg.lastChild.setAttribute('r', '2.5');
  svg.figures = [];
  return svg;
}

// The newest figure is at the right edge. null: there was none, and the line has a gap.
function points(figures) {
  const most = Math.max(1, ...figures) * 1.1;
  const first = KEPT - figures.length;
  return figures.map((figure, i) => figure === null ? null : {
    x: EDGE + (first + i) / (KEPT - 1) * (WIDTH - 2 * EDGE),
    y: HEIGHT - EDGE - figure / most * (HEIGHT - 2 * EDGE)});
}

function pathOf(places) {
  let pen = 'M';
  return places.map((place) => {
    const step = place ? pen + place.x.toFixed(1) + ' ' + place.y.toFixed(1) : '';
    pen = place ? 'L' : 'M';
    return step;
  }).join('');
}

// The area below each part of the line without a gap.
function areaOf(places) {
  const parts = [[]];
  for (const place of places) {
    if (place) { parts[parts.length - 1].push(place); } else { parts.push([]); }
  }
  const floor = HEIGHT - EDGE;
  return parts.filter((part) => part.length > 1).map((part) => pathOf(part) +
    'L' + part[part.length - 1].x.toFixed(1) + ' ' + floor + 'L' + part[0].x.toFixed(1) + ' ' + floor + 'Z').join('');
}

export function addFigure(svg, figure, words) {
  const [area, line, last] = svg.children;
  svg.figures.push(figure);
  svg.figures.splice(0, svg.figures.length - KEPT);
  const places = points(svg.figures);
  const end = places[places.length - 1];
  area.setAttribute('d', areaOf(places));
  line.setAttribute('d', pathOf(places));
  last.setAttribute('cx', end ? end.x.toFixed(1) : '-9');
  last.setAttribute('cy', end ? end.y.toFixed(1) : '-9');
  svg.setAttribute('aria-label', words);
}
