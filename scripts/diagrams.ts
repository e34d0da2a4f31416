import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pictures } from './diagrams/pictures.ts';

// Writes the diagrams in docs/images/. A test checks that the files match.
const folder = join(dirname(import.meta.dirname), 'docs/images');
for (const [name, picture] of pictures) writeFileSync(join(folder, name), picture);
