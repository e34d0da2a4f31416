import qr from 'qrcode-terminal';
import { type Html, html } from './html.ts';

// The library draws for terminals: each character holds two modules, one above the other, and lit
// is white.
const upperLit = new Set(['█', '▀']);
const lowerLit = new Set(['█', '▄']);

/** The modules of a QR code with its quiet zone of one module, row by row; true is dark. */
export function qrModules(text: string): boolean[][] {
  let drawn = '';
  qr.generate(text, { small: true }, (art) => {
    drawn = art;
  });
  const lines = drawn.split('\n').filter((line) => line !== '');
  const rows = lines.flatMap((line) => [
    [...line].map((sign) => !upperLit.has(sign)),
    [...line].map((sign) => !lowerLit.has(sign)),
  ]);
  // The frame starts half a line above, and its end is ragged.
  const width = (lines[1] ?? '').length;
  return rows.slice(1, width + 1).map((row) => row.slice(0, width));
}

/** Draws a QR code inside the page, so that no other request carries its secret. */
export function drawQr(text: string, description: string): Html {
  const modules = qrModules(text);
  const size = modules.length + 6;
  const dark = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + 3} ${y + 3}h1v1h-1z`] : [])),
  );
  return html`<svg class="qr" role="img" aria-label="${description}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${dark.join('')}" fill="#000"/></svg>`;
}
