import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manualPages } from './man/pages.ts';

// Writes man/. Run it after a change of a command or setting. A test checks that the pages match.
const folder = join(dirname(import.meta.dirname), 'man');
mkdirSync(folder, { recursive: true });
for (const page of globSync(join(folder, '*.[15]'))) rmSync(page);
for (const [name, page] of await manualPages()) writeFileSync(join(folder, name), page);
