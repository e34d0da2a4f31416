import { expect, test } from 'vitest';
import { judgeClock } from '../../src/services/foundation/clock/judge.ts';

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
const start = Date.UTC(2026, 4, 1);
const at = (milliseconds: number) => new Date(start + milliseconds);
const swept = { sweptAt: at(0), heldAt: null, seenAt: null, days: [] };
const eventsOn = (...days: number[]) =>
  days.map((each) => ({ first: at(each * day), last: at(each * day + hour) }));

test('far is seven days past the last sweep, in either direction', () => {
  for (const sign of [1, -1]) {
    expect(judgeClock(swept, at(sign * 7 * day))).toBeNull();
    const jumped = at(sign * (7 * day + second));
    expect(judgeClock(swept, jumped)).toEqual({ heldAt: jumped });
  }
});

test('far is seven days past the newest event too: a clock near it has not jumped', () => {
  const days = eventsOn(5, 11);
  expect(judgeClock({ ...swept, days }, at(18 * day + hour))).toBeNull();
  const jumped = at(18 * day + hour + second);
  expect(judgeClock({ ...swept, days }, jumped)).toEqual({ heldAt: jumped });
});

test('events after a gap of seven days do not count: the wrong clock wrote them', () => {
  const jumped = at(500 * day + 2 * hour);
  expect(judgeClock({ ...swept, days: eventsOn(5, 500) }, jumped)).toEqual({ heldAt: jumped });
});

test('the sweep resumes after 24 hours without a jump', () => {
  const heldAt = at(500 * day);
  const seen = (hours: number) => ({ ...swept, heldAt, seenAt: at(500 * day + hours * hour) });
  const now = (hours: number) => at(500 * day + hours * hour);
  expect(judgeClock(seen(23), new Date(now(24).getTime() - second))).toEqual({ heldAt });
  expect(judgeClock(seen(23), now(24))).toBeNull();
  // Another jump in the meantime, forward or back, begins the 24 hours again.
  for (const again of [at(508 * day), at(490 * day)])
    expect(judgeClock(seen(1), again)).toEqual({ heldAt: again });
  // A clock that was set right is near the last sweep.
  expect(judgeClock(seen(1), at(2 * hour))).toBeNull();
});
