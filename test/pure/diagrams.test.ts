import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pictures } from '../../scripts/diagrams/pictures.ts';
import { checkout } from '../support/docs.ts';

// Compares the diagrams in docs/images/ with their source. To write them: npm run diagrams.

test.each([...pictures])('docs/images/%s is what the script draws', (name, picture) => {
  expect(readFileSync(join(checkout, 'docs/images', name), 'utf8')).toBe(picture);
  // Nothing is loaded from elsewhere, and the picture has colours for light and dark.
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
    /https?:|@import|<image/,
  );
  expect(picture).toContain('@media (prefers-color-scheme: dark)');
});
