import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../../src/cli/command-line.ts';
import { shellWord } from '../../src/text/shell-word.ts';
import { counterpartMissing } from '../support/counterpart.ts';

const run = promisify(execFile);

const hostile = [
  'zed`x.sh`@evil.test',
  '$(x.sh)',
  "it's",
  "\\' ; x.sh '",
  "'\\'",
  'ends with \\',
  '\\\\',
  '!!',
  '~root',
  '=ls',
  '#x',
  '{a,b}',
  'a*?[b]',
  'a b\tc\nd',
  '',
  '-n',
  '%s%n',
  '"q"',
  'ä‌ü',
];
const text = fc.oneof(
  fc.constantFrom(...hostile),
  fc
    .array(fc.constantFrom("'", '\\', '"', '`', '$', '(', ')', ';', ' ', '!', 'x'), {
      maxLength: 8,
    })
    .map((signs) => signs.join('')),
);

describe.each([
  ['sh', ['-c']],
  ['bash', ['--norc', '-c']],
  ['zsh', ['-f', '-c']],
  ['fish', ['--no-config', '-c']],
] as const)('X9 a word of a next command in %s', (shell, options) => {
  const missing = shell !== 'sh' && counterpartMissing(shell);
  test.skipIf(missing)(
    'X9 is read back as exactly the text, whatever it contains',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 30, maxLength: 60 }), async (texts) => {
          const words = [...hostile, ...texts];
          const { stdout } = await run(shell, [
            ...options,
            `printf '%s\\0' ${words.map(shellWord).join(' ')}`,
          ]);
          expect(stdout.split('\0').slice(0, -1)).toEqual(words);
        }),
        { numRuns: 8 },
      );
    },
    60_000,
  );
});

test('X9 an argument that begins with a dash comes after --', () => {
  expect(commandLine('idctl user create', 'ada@acme.test', '--name NAME')).toBe(
    'idctl user create ada@acme.test --name NAME',
  );
  expect(commandLine('idctl user create', '-n@acme.test', '--name NAME')).toBe(
    'idctl user create --name NAME -- -n@acme.test',
  );
  expect(commandLine('idctl user show', 'a`b`@acme.test')).toBe("idctl user show 'a`b`@acme.test'");
});
