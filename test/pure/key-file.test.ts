import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeyFile, readKeyFile } from '../../src/crypto/key-file.ts';
import { hintLike } from '../support/hints.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-key-'));
  path = join(folder, 'master.key');
});

afterEach(() => rm(folder, { recursive: true }));

const refused = (message: string | RegExp, hint?: string | RegExp) =>
  expect.objectContaining({
    code: 'key_invalid',
    message: expect.stringMatching(message),
    ...(hint === undefined
      ? {}
      : { hint: hintLike(typeof hint === 'string' ? new RegExp(hint) : hint) }),
  });

test('X8 a new key file is readable by its owner only, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    await createKeyFile(path);
  } finally {
    process.umask(before);
  }
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('X3 a new key has 256 bits, differs each time and reads back', async () => {
  await createKeyFile(path);
  await createKeyFile(`${path}.2`);
  const keys = await readKeyFile(path);
  expect(keys.map(({ length }) => length)).toEqual([32]);
  expect(await readKeyFile(path)).toEqual(keys);
  expect(await readKeyFile(`${path}.2`)).not.toEqual(keys);
  expect(await readFile(path, 'utf8')).toMatch(/^# .*\n# .*\n[\w-]{43}\n$/);
});

test('X3 a new key does not overwrite a file', async () => {
  await writeFile(path, 'precious');
  await expect(createKeyFile(path)).rejects.toMatchObject({ code: 'already_exists' });
  await rm(path);
  await symlink(join(folder, 'nowhere'), path);
  await expect(createKeyFile(path)).rejects.toMatchObject({ code: 'already_exists' });
  await expect(stat(join(folder, 'nowhere'))).rejects.toThrow('ENOENT');
});

test('X3 a key that cannot be written is refused with the path and the cause', async () => {
  const nowhere = join(folder, 'missing', 'master.key');
  await expect(createKeyFile(nowhere)).rejects.toEqual(
    refused(`${nowhere} is in a folder that does not exist`),
  );
});

test('X3 a missing key file is refused with the remedy', async () => {
  await expect(readKeyFile(path)).rejects.toEqual(
    refused(`${path} is missing`, '^Correct keyFile, .*from its copy'),
  );
});

test.each([
  ['0640', 0o640],
  ['0620', 0o620],
  ['0604', 0o604],
  ['0602', 0o602],
  ['0644', 0o644],
])(
  'X3 a key file of mode %s is refused with the chmod command that corrects it',
  async (shown, mode) => {
    await createKeyFile(path);
    await chmod(path, mode);
    await expect(readKeyFile(path)).rejects.toEqual(
      refused(`mode ${shown}`, `^chmod 600 ${path}$`),
    );
  },
);

test('X3 the path in the suggested chmod command is quoted for the shell', async () => {
  const odd = join(folder, "it's a key");
  await createKeyFile(odd);
  await chmod(odd, 0o644);
  await expect(readKeyFile(odd)).rejects.toMatchObject({
    hint: `chmod 600 '${folder}/it'\\''s a key'`,
  });
});

test.each([
  ['empty', '', 'empty or truncated'],
  ['only the comment', '# The master key of idctl\n', 'empty or truncated'],
  ['cut short', `${'A'.repeat(40)}\n`, 'truncated: 30 of 32 bytes'],
  ['cut to half', 'A'.repeat(21), 'truncated: 15 of 32 bytes'],
  ['too long', 'A'.repeat(44), '33 bytes where 32 are expected'],
  ['a key and a half', `${'A'.repeat(43)}\n${'B'.repeat(20)}\n`, 'truncated: 15 of 32 bytes'],
  ['not base64url', `${'A'.repeat(42)}!`, 'not base64url'],
  ['huge', 'A'.repeat(5000), '5000 bytes'],
])('X3 a key file that is %s is refused with the cause', async (_, text, cause) => {
  await writeFile(path, text, { mode: 0o600 });
  await expect(readKeyFile(path)).rejects.toEqual(refused(cause, 'from its copy'));
});

test('X3 a file without a key is not refused for its mode', async () => {
  await writeFile(path, 'root:x:0:0:root:/root:/bin/bash\n', { mode: 0o644 });
  await chmod(path, 0o644);
  await expect(readKeyFile(path)).rejects.toEqual(
    refused('not base64url', '^Correct keyFile, or restore'),
  );
});

test('X3 a folder in the place of the key file is refused', async () => {
  await expect(readKeyFile(folder)).rejects.toEqual(refused('is not a file'));
});

test('X4 no refusal shows the key', async () => {
  const line = 'canarycanarycanary';
  await writeFile(path, line, { mode: 0o600 });
  const refusal: unknown = await readKeyFile(path).catch((error: unknown) => error);
  expect(JSON.stringify(refusal) + String(refusal)).not.toContain('canary');
});
