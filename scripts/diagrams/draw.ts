// Draws a diagram as SVG: frames, boxes and arrows at given places. The picture has its own
// background, in light and in dark, and uses the fonts of the reader's system.

/** A box with a title and further lines, or a frame around boxes with a title in its corner. */
interface Box {
  at: [x: number, y: number];
  size: [width: number, height: number];
  title: string;
  lines?: string[];
  isFrame?: true;
  /** Something outside idctl. */
  isOutside?: true;
}

/** An arrow along these points, with a label beside its middle. */
interface Arrow {
  through: [x: number, y: number][];
  label?: string;
  /** The place of the label, from the middle of the arrow. */
  labelAt?: [x: number, y: number];
}

/** What a diagram shows. `about` is for readers who do not see it. */
export interface Diagram {
  size: [width: number, height: number];
  about: string;
  boxes: Box[];
  arrows: Arrow[];
}

const style = `
svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 13px; }
.paper { fill: #ffffff; } .frame { fill: #f4f6f8; stroke: #9aa4af; }
.box { fill: #e3edfb; stroke: #3b6fb5; } .outside { fill: #ffffff; stroke: #6b7480; stroke-dasharray: 4 3; }
text { fill: #1b1f24; } .title { font-weight: 600; } .label { font-size: 12px; fill: #3d454e; }
.arrow { fill: none; stroke: #3d454e; stroke-width: 1.4; } .tip { fill: #3d454e; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #14181d; } .frame { fill: #1c2229; stroke: #5b6570; }
  .box { fill: #1f3350; stroke: #6fa0e0; } .outside { fill: #14181d; stroke: #8b949e; }
  text { fill: #e8ecf0; } .label { fill: #c3cad2; } .arrow { stroke: #c3cad2; } .tip { fill: #c3cad2; }
}`;

/** The SVG of a diagram. The same diagram always gives the same bytes. */
export function draw({ size: [width, height], about, boxes, arrows }: Diagram): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(about)}">`,
    `<style>${style}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
    `<rect class="paper" width="${width}" height="${height}" rx="8"/>`,
    ...boxes.filter(({ isFrame }) => isFrame).map(frame),
    ...boxes.filter(({ isFrame }) => !isFrame).map(box),
    ...arrows.map(arrow),
    '</svg>',
  ].join('\n')}\n`;
}

function frame({ at: [x, y], size: [width, height], title }: Box): string {
  const outline = `<rect class="frame" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
  return `${outline}\n${text(x + 12, y + 20, title, 'title')}`;
}

function box({ at: [x, y], size: [width, height], title, lines = [], isOutside }: Box): string {
  const middle = x + width / 2;
  const first = y + height / 2 + 5 - lines.length * 8.5;
  return [
    `<rect class="${isOutside ? 'outside' : 'box'}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    text(middle, first, title, 'title', 'middle'),
    ...lines.map((line, at) => text(middle, first + 17 * (at + 1), line, 'label', 'middle')),
  ].join('\n');
}

function arrow({ through, label, labelAt: [right, down] = [0, -6] }: Arrow): string {
  const path = through.map(([x, y]) => `${x} ${y}`).join(' L');
  const line = `<path class="arrow" d="M${path}" marker-end="url(#tip)"/>`;
  if (label === undefined) return line;
  const at = Math.floor((through.length - 1) / 2);
  const [fromX, fromY] = through[at] ?? [0, 0];
  const [toX, toY] = through[at + 1] ?? [0, 0];
  const [x, y] = [(fromX + toX) / 2 + right, (fromY + toY) / 2 + down];
  return `${line}\n${text(x, y, label, 'label', 'middle')}`;
}

function text(x: number, y: number, words: string, kind: string, anchor = 'start'): string {
  return `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
