import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { install } from '../support/installation.ts';

test('if the database is not there yet, the daemon exits with code 3 and systemd starts it again', async () => {
  const site = await install();
  onTestFinished(() => site.close());
  const away = { IDCTL_DATABASE: 'postgres://idctl:secret@127.0.0.1:1/idctl' };
  const { code } = await site.run(['serve', '--listen', '127.0.0.1:0'], '', away);
  const unit = await readFile(resolve(import.meta.dirname, '../../config/idctl.service'), 'utf8');
  const [head = '', service = ''] = unit.split('[Service]');
  expect(head).toMatch(/^StartLimitIntervalSec=0$/m);
  expect(service).toMatch(/^Restart=on-failure$/m);
  expect([code, /^RestartPreventExitStatus=(.*)$/m.exec(service)?.[1]]).toEqual([3, '2']);
});

test('a database URL with several hosts is refused with a hint, and its password is not printed', async () => {
  const site = await install();
  onTestFinished(() => site.close());
  const several = [
    'postgres://idctl:s3cret@db1:5432,db2:5432/idctl',
    'postgresql://db1,db2/idctl',
    'postgres://idctl:s3cret@/idctl?host=db1,db2',
  ];
  for (const url of several) {
    const { code, err } = await site.run(['org', 'list'], '', { IDCTL_DATABASE: url });
    expect([url, code, err]).toEqual([url, 2, expect.stringContaining('must name only one host')]);
    expect(err).toContain('HAProxy');
    expect(err).not.toContain('s3cret');
  }
  // A comma in the password does not count as a second host.
  const one = { IDCTL_DATABASE: 'postgres://idctl:s3,cret@127.0.0.1:1/idctl' };
  expect((await site.run(['org', 'list'], '', one)).code).toBe(3);
});
