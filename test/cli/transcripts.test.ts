import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTerminal, readTranscript } from '../support/transcript.ts';

describe('a terminal shows what the transcript says', () => {
  for (const path of globSync(`${import.meta.dirname}/*.transcript`)) {
    it.concurrent(basename(path, '.transcript'), { timeout: 120_000 }, async () => {
      const terminal = await openTerminal();
      try {
        for (const step of await readTranscript(path)) {
          const { seen, expected } = await terminal.run(step);
          expect(seen, `line ${step.line}: ${step.command}`).toEqual(expected);
        }
      } finally {
        await terminal.close();
      }
    });
  }
});
