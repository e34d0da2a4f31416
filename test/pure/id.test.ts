import { expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { isUuid } from '../../src/services/foundation/fields.ts';

test('ids made in sequence are in order, all different, and UUIDv7 of the current time', () => {
  const ids = Array.from({ length: 20_000 }, orderedId);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(isUuid)).toBe(true);
  const time = Number.parseInt((ids[0] ?? '').replace('-', '').slice(0, 12), 16);
  expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
});
