import { globSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { describe, it } from 'vitest';
import { freshDatabaseUrl } from './database.ts';
import { freePorts } from './ports.ts';
import { long } from './scim.ts';
import { driverSetting } from './sqlite-driver.ts';
import { playTranscript } from './transcript.ts';

const folder = resolve(import.meta.dirname, '../cli');

// In one process, only one transcript can play at a time.
const play = long ? it.concurrent : it;

/** Plays the transcripts of `test/cli` whose name begins with one of these letters. */
export function playTranscripts(letters: RegExp): void {
  describe('a terminal shows exactly what the transcript says', () => {
    for (const path of globSync(`${folder}/*.transcript`)) {
      if (!letters.test(basename(path))) continue;
      play(basename(path, '.transcript'), { timeout: 300_000 }, async () => {
        const [port] = await freePorts(1);
        const env = { IDCTL_DATABASE: await freshDatabaseUrl(), ...driverSetting };
        await playTranscript(path, { env, values: { port: String(port) } });
      });
    }
  });
}
