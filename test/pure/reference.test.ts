import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from '../../scripts/reference/pages.ts';
import { refusals } from '../../src/errors.ts';

// Compares docs/reference/ with the code. To write the pages: npm run reference.

const folder = join(import.meta.dirname, '../../docs/reference');
const pages = await referencePages();

test('docs/reference/ has a page of each list in the code, and nothing else', () => {
  expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
});

test.each([...pages])('spec §6 docs/reference/%s says the same as the code', async (name, page) => {
  await expect(page).toMatchFileSnapshot(join(folder, name));
});

test('the page of the refusal codes has messages of most codes', () => {
  const sections = pages.get('refusal-codes.md')?.split(/^### /m).slice(1) ?? [];
  const withMessages = sections.filter((text) => /^\w+\n/.test(text) && text.includes('\n- '));
  expect(withMessages.length).toBeGreaterThan(Object.keys(refusals).length * 0.7);
});
