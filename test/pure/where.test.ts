import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { neutral, slow, slowOnNone } from '../support/where.ts';

test.each([...slow, ...slowOnNone, ...neutral])('%s names tests that exist', (pattern) => {
  expect(globSync(pattern)).not.toEqual([]);
});
