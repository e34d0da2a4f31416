import { randomBytes, randomUUIDv7 } from 'node:crypto';

let lastMillisecond = 0;
let counter = 0;

/**
 * A UUIDv7 greater than every earlier one of this process, for rows ordered by id (RFC 9562 §6.2, a
 * counter in rand_a). Node's own are ordered only across milliseconds.
 */
export function orderedId(): string {
  const millisecond = Date.now();
  if (millisecond > lastMillisecond) {
    lastMillisecond = millisecond;
    // Half of the twelve-bit range stays free for the counter.
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

/** A UUIDv7 of this millisecond of the epoch, like `orderedId` makes. It is in no order. */
export function idAround(millisecond: number): string {
  return idFrom(Math.max(0, millisecond), randomBytes(2).readUInt16BE() & 0x7ff);
}

/** The millisecond of the epoch in which a UUIDv7 was made. */
export function millisecondOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function idFrom(millisecond: number, count: number): string {
  const time = millisecond.toString(16).padStart(12, '0');
  const counted = count.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}${randomUUIDv7().slice(18)}`;
}

/** Sorts before every UUIDv7 of this instant (milliseconds of the epoch) or later. */
export function idOfInstant(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
