import { expect } from 'vitest';
import { commandText } from '../../src/cli/next.ts';
import type { Next } from '../../src/next.ts';

/** Matches a hint that the command line words like this: a part of the text, or a pattern. */
export function hintLike(expected: string | RegExp): unknown {
  // A test has no type for its own matchers.
  return (expect as unknown as { hintLike: (like: unknown) => unknown }).hintLike(expected);
}

expect.extend({
  hintLike(hint: Next | undefined, expected: string | RegExp) {
    const text = commandText(hint) ?? '';
    const pass = typeof expected === 'string' ? text.includes(expected) : expected.test(text);
    return { pass, message: () => `the hint ${JSON.stringify(text)} is not like ${expected}` };
  },
});
