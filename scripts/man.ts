import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manualPages } from './man/pages.ts';

// Writes man/: run it after a change of a command or a setting. A test holds the pages to both.
const folder = join(dirname(import.meta.dirname), 'man');
mkdirSync(folder, { recursive: true });
for (const page of globSync(join(folder, '*.[15]'))) rmSync(page);
for (const [name, page] of await manualPages()) writeFileSync(join(folder, name), page);
