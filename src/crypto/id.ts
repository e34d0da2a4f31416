import { randomBytes, randomUUIDv7 } from 'node:crypto';

let lastMillisecond = 0;
let counter = 0;

/**
 * A UUIDv7 greater than all earlier ones of this process, for rows ordered by id (RFC 9562 §6.2: a
 * counter in rand_a). Node's own UUIDv7s are not ordered within a millisecond.
 */
export function orderedId(): string {
  const millisecond = Date.now();
  if (millisecond > lastMillisecond) {
    lastMillisecond = millisecond;
    // The counter starts in the lower half of its 12-bit range, so that it can grow.
    counter = randomBytes(2).readUInt16BE() & 0x7ff;
  } else {
    counter += 1;
    if (counter > 0xfff) {
      lastMillisecond += 1;
      counter = 0;
    }
  }
  return idFrom(lastMillisecond, counter);
}

/** A UUIDv7 with this time, in milliseconds since 1970. Ids with the same time are unordered. */
export function idAround(millisecond: number): string {
  return idFrom(Math.max(0, millisecond), randomBytes(2).readUInt16BE() & 0x7ff);
}

/** The time in a UUIDv7, in milliseconds since 1970. */
export function millisecondOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function idFrom(millisecond: number, count: number): string {
  const time = millisecond.toString(16).padStart(12, '0');
  const counted = count.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}${randomUUIDv7().slice(18)}`;
}

/** The lower bound of all UUIDv7s created at this time, in milliseconds since 1970, or later. */
export function idOfInstant(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
