import { expect, test } from 'vitest';
import { secondsOf } from '../../src/config/duration.ts';
import { configSchema } from '../../src/config/schema.ts';

test.each([
  ['90s', 90],
  ['30m', 1800],
  ['24h', 86_400],
  ['365d', 31_536_000],
])('%s is a duration', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
  expect(configSchema.parse({ oauth: { botTokenTtl: text } }).oauth.botTokenTtl).toBe(text);
});

test.each(['', '24', 'h', '24 h', '-1h', '1.5h', '1w', '24H'])('%j is not a duration', (text) => {
  expect(secondsOf(text)).toBeNaN();
});

test.each(['59s', '0h', '366d', '24'])('a token cannot last %j', (botTokenTtl) => {
  expect(configSchema.safeParse({ oauth: { botTokenTtl } }).success).toBe(false);
});
