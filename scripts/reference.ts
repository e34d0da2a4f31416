import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './reference/pages.ts';

// Writes docs/reference/. Run it after a change of a command, a setting, a refusal or an event. A
// test checks that the pages match.
const folder = join(dirname(import.meta.dirname), 'docs/reference');
mkdirSync(folder, { recursive: true });
for (const [name, page] of await referencePages()) writeFileSync(join(folder, name), page);
