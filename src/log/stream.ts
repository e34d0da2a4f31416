import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

// The maximum number of bytes that wait while the reader has stopped or the disk is full.
const maxWaiting = 1024 * 1024;
const retryAfter = 20;

/**
 * Standard error as a stream that never blocks and never fails: the service matters more than its
 * log. Text that cannot be written waits, up to one MiB; lines beyond that are lost. `lost` makes
 * the line that says how many. A pipe does not block, because main.ts has used `process.stderr`.
 */
export function createLogStream(lost: (count: number) => string): DestinationStream {
  const waiting: Buffer[] = [];
  let size = 0;
  let dropped = 0;
  let retrying = false;
  const add = (line: string) => {
    const bytes = Buffer.from(line);
    waiting.push(bytes);
    size += bytes.length;
  };
  const writeFirst = (first: Buffer) => {
    const written = writeSync(2, first);
    size -= written;
    // A full pipe or disk may take a part of a line; the next write begins with the rest.
    if (written < first.length) waiting[0] = first.subarray(written);
    else waiting.shift();
  };
  const flush = () => {
    try {
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        writeFirst(first);
        if (dropped === 0 || size > 0) continue;
        add(lost(dropped));
        dropped = 0;
      }
    } catch {
      if (!retrying) setTimeout(retry, retryAfter).unref();
      retrying = true;
    }
  };
  const retry = () => {
    retrying = false;
    flush();
  };
  return {
    write(line) {
      if (size + line.length > maxWaiting) dropped += 1;
      else add(line);
      flush();
    },
  };
}
