import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { manualPages } from '../../scripts/man/pages.ts';
import { counterpartMissing } from '../support/counterpart.ts';

const folder = join(import.meta.dirname, '../../man');
const pages = await manualPages();

describe('the manual pages (write them with: npm run man)', () => {
  test('exist for idctl, every group of commands and the configuration file, and for nothing else', () => {
    expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
  });

  test.each([...pages])('%s says the same as the program', async (name, page) => {
    await expect(page).toMatchFileSnapshot(join(folder, name));
  });

  test.skipIf(counterpartMissing('groff-base'))('are rendered without a warning', () => {
    const files = readdirSync(folder).map((name) => join(folder, name));
    const { stderr, status } = spawnSync(
      '/usr/bin/groff',
      ['-man', '-Tutf8', '-ww', '-z', ...files],
      {
        encoding: 'utf8',
      },
    );
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });

  test.skipIf(counterpartMissing('groff-base'))('fit 80 columns, and break no word', () => {
    const plain = ['-man', '-Tascii', '-P-cbou', '-rLL=80n'];
    const long = readdirSync(folder).flatMap((name) => {
      const { stdout } = spawnSync('/usr/bin/groff', [...plain, join(folder, name)], {
        encoding: 'utf8',
      });
      expect(stdout).toContain('idctl');
      // No name is hyphenated at the end of a line, so that a search in the page finds it.
      return stdout.split('\n').filter((line) => line.length > 80 || /[a-z]-$/.test(line));
    });
    expect(long).toEqual([]);
  });
});
