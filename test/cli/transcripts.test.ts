import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'vitest';
import { freshDatabaseUrl } from '../support/database.ts';
import { freePorts } from '../support/ports.ts';
import { long } from '../support/scim.ts';
import { driverSetting } from '../support/sqlite-driver.ts';
import { playTranscript } from '../support/transcript.ts';

// In one process, only one transcript can play at a time.
const play = long ? it.concurrent : it;

describe('a terminal shows exactly what the transcript says', () => {
  for (const path of globSync(`${import.meta.dirname}/*.transcript`)) {
    play(basename(path, '.transcript'), { timeout: 300_000 }, async () => {
      const [port] = await freePorts(1);
      const env = { IDCTL_DATABASE: await freshDatabaseUrl(), ...driverSetting };
      await playTranscript(path, { env, values: { port: String(port) } });
    });
  }
});
