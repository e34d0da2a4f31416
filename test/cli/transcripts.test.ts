import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'vitest';
import { freshDatabaseUrl } from '../support/database.ts';
import { playTranscript } from '../support/transcript.ts';

describe('a terminal shows what the transcript says', () => {
  for (const path of globSync(`${import.meta.dirname}/*.transcript`)) {
    it.concurrent(basename(path, '.transcript'), { timeout: 300_000 }, async () => {
      await playTranscript(path, { env: { IDCTL_DATABASE: await freshDatabaseUrl() } });
    });
  }
});
