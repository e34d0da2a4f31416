import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'vitest';
import { freshDatabaseUrl } from '../support/database.ts';
import { freePorts } from '../support/ports.ts';
import { driverSetting } from '../support/sqlite-driver.ts';
import { playTranscript } from '../support/transcript.ts';

describe('a terminal shows exactly what the transcript says', () => {
  for (const path of globSync(`${import.meta.dirname}/*.transcript`)) {
    it.concurrent(basename(path, '.transcript'), { timeout: 300_000 }, async () => {
      const [port] = await freePorts(1);
      const env = { IDCTL_DATABASE: await freshDatabaseUrl(), ...driverSetting };
      await playTranscript(path, { env, values: { port: String(port) } });
    });
  }
});
