import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accessHint, fileFault } from '../../src/host/file-fault.ts';
import { trustedRoots } from '../../src/outbound/roots.ts';

const nowhere = join(import.meta.dirname, 'nowhere');

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const withCode = (code: string) => Object.assign(new Error(code), { code });

test('common faults of a file are explained in words', () => {
  const reading = (path: string) =>
    fileFault(
      thrown(() => readFileSync(path)),
      'read',
    );
  expect(reading(nowhere)).toBe('does not exist');
  expect(reading(join(import.meta.filename, 'below'))).toBe('does not exist');
  expect(reading(import.meta.dirname)).toBe('is a folder');
  // The tests may run as root, who can read everything, so these errors are made up.
  const { username } = userInfo();
  expect(fileFault(withCode('EACCES'), 'read')).toBe(`may not be read by the user ${username}`);
  expect(fileFault(withCode('EPERM'), 'written')).toBe(
    `may not be written by the user ${username}`,
  );
  expect(fileFault(withCode('ENOENT'), 'written')).toBe('is in a folder that does not exist');
  expect(accessHint(withCode('EACCES'))).toMatch(
    /^Let that user read it.* or run the command .*: sudo idctl …$/,
  );
  expect(accessHint(withCode('ENOENT'))).toBeUndefined();
  expect(fileFault(withCode('EIO'), 'read')).toBe('cannot be read: EIO');
});

test('a missing certificate file and a file without certificates have different messages', () => {
  expect(() => trustedRoots('doh.caFile', nowhere)).toThrow(
    `doh.caFile: ${nowhere} does not exist`,
  );
  expect(() => trustedRoots('doh.caFile', import.meta.filename)).toThrow(
    'does not contain a PEM certificate',
  );
});
