import { read } from 'node:fs';
import { promisify } from 'node:util';

// The -wal file (https://www.sqlite.org/fileformat2.html#the_write_ahead_log): a header, and a frame
// for each written page. SQLite verifies the frames only when it opens the file.

const headerSize = 32;
const frameHeaderSize = 24;
/** The checksums are made of little-endian words, as on every machine that idctl supports. */
const magic = 0x377f0682;

type Sums = readonly [number, number];

/** How many frames, from the first one on, are as SQLite has written them. */
export async function countWholeFrames(handle: number): Promise<number> {
  const header = await bytesAt(handle, 0, headerSize);
  if (header?.readUInt32BE(0) !== magic) return 0;
  let sums = add([0, 0], header.subarray(0, 24));
  if (!endsWith(header, sums)) return 0;
  const size = frameHeaderSize + header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  for (let count = 0; ; count += 1) {
    const frame = await bytesAt(handle, headerSize + count * size, size);
    if (!frame?.subarray(8, 16).equals(salts)) return count;
    sums = add(add(sums, frame.subarray(0, 8)), frame.subarray(frameHeaderSize));
    if (!endsWith(frame.subarray(0, frameHeaderSize), sums)) return count;
  }
}

/** The bytes at this position; undefined if the file ends before. */
async function bytesAt(handle: number, position: number, length: number) {
  const wanted = Buffer.alloc(length);
  const { bytesRead } = await promisify(read)(handle, wanted, 0, length, position);
  return bytesRead === length ? wanted : undefined;
}

/** Whether the header of the file, or of a frame, ends with these checksums. */
function endsWith(header: Buffer, sums: Sums): boolean {
  const at = header.length - 8;
  return header.readUInt32BE(at) === sums[0] && header.readUInt32BE(at + 4) === sums[1];
}

function add(sums: Sums, bytes: Buffer): Sums {
  let [first, second] = sums;
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + bytes.readUInt32LE(at) + second) >>> 0;
    second = (second + bytes.readUInt32LE(at + 4) + first) >>> 0;
  }
  return [first, second];
}
