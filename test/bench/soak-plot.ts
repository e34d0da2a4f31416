import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Measure, measures, type Sample } from './soak-samples.ts';

// Draws what the soaks recorded: a column for each database, a row for each group of measures.

const groups: { title: string; of: [Measure, Measure?, Measure?] }[] = [
  { title: 'Memory (MB)', of: ['rss', 'heap', 'external'] },
  { title: 'Open file handles', of: ['handles', 'sockets', 'connections'] },
  { title: 'Event-loop delay (ms)', of: ['delay', 'delayMedian', 'idleDelay'] },
  { title: 'Requests a second', of: ['requests'] },
];

const [width, height] = [340, 120];
const [left, top, gapX, gapY] = [44, 56, 60, 64];

const style = `
  svg { --ink: #1f2328; --faint: #d0d7de; --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --faint: #3d444d; --c0: #58a6ff; --c1: #f0883e; --c2: #56d364; }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--ink); }
  .head { font-weight: 600; font-size: 14px; }
  .grid { stroke: var(--faint); }
  polyline { fill: none; stroke-width: 1.5; }
  ${[0, 1, 2].map((at) => `.s${at} { stroke: var(--c${at}); } tspan.t${at} { fill: var(--c${at}); }`).join(' ')}`;

/** The last run on one database. */
export interface Soak {
  name: string;
  samples: Sample[];
}

/** Reads the recordings in the folder. */
export async function readSoaks(folder: string): Promise<Soak[]> {
  const soaks: Soak[] = [];
  for (const name of ['SQLite', 'PostgreSQL']) {
    const recorded = await readFile(join(folder, `${name}.json`), 'utf8').catch(() => null);
    if (recorded !== null) soaks.push({ name, samples: JSON.parse(recorded) });
  }
  return soaks;
}

/** Draws the soaks into the file, in a column each. */
export async function plotSoaks(soaks: Soak[], file: string): Promise<void> {
  const panels = soaks.flatMap(({ name, samples }, column) => {
    const x = left + column * (width + gapX);
    return [
      `<text class="head" x="${x}" y="20">${name}</text>`,
      ...groups.map(({ title, of }, row) => {
        const named = of.filter((measure) => measure !== undefined);
        // Both databases have the same scale.
        const all = soaks.flatMap((soak) =>
          soak.samples.flatMap((sample) => named.map((measure) => sample[measure])),
        );
        const at = `translate(${x} ${top + row * (height + gapY)})`;
        return `<g transform="${at}">${panel(title, named, samples, roundUp(Math.max(...all)))}</g>`;
      }),
    ];
  });
  const [w, h] = [left + soaks.length * (width + gapX), top + groups.length * (height + gapY)];
  const shown = 'Memory, file handles, event-loop delay and requests a second of one daemon';
  const label = `${shown} over 30 minutes, on SQLite and on PostgreSQL`;
  const about = `aria-label="${label}" role="img"`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" ${about}>`;
  await writeFile(file, `${open}\n<style>${style}\n</style>\n${panels.join('\n')}\n</svg>\n`);
}

function panel(title: string, of: Measure[], samples: Sample[], most: number): string {
  const end = samples.at(-1)?.seconds ?? 1;
  const y = (value: number) => (height - (height * value) / most).toFixed(1);
  const lines = of.map((measure, at) => {
    const points = samples.map(
      (sample) => `${((width * sample.seconds) / end).toFixed(1)},${y(sample[measure])}`,
    );
    return `<polyline class="s${at}" points="${points.join(' ')}"/>`;
  });
  const names = of.map((measure, at) => `<tspan class="t${at}" dx="10">${nameOf(measure)}</tspan>`);
  const ticks = [0, most / 2, most].map(
    (value) =>
      `<line class="grid" x1="0" x2="${width}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="-6" y="${y(value)}" dy="4" text-anchor="end">${value}</text>`,
  );
  const minutes = [0, 0.5, 1].map((part) => {
    const label = `${Math.round((part * end) / 6) / 10}${part === 1 ? ' min' : ''}`;
    return `<text x="${part * width}" y="${height + 16}" text-anchor="middle">${label}</text>`;
  });
  const legend = `<text y="-8">${title}${of.length > 1 ? names.join('') : ''}</text>`;
  return [legend, ...ticks, ...minutes, ...lines].join('\n');
}

const nameOf = (measure: Measure) => measures[measure].short;

/** The next of 1, 2, 4 or 6 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([1, 2, 4, 6, 10].find((step) => value <= step * power) ?? 10);
}
