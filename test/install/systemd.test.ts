import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { startDaemon } from '../support/daemon.ts';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-systemd-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a unit that runs the program of this checkout, and returns its path. */
async function unit(name: string): Promise<string> {
  const file = join(folder, name);
  const text = await readFile(join(checkout, 'config', name), 'utf8');
  await writeFile(file, text.replaceAll('/usr/local/bin', join(checkout, 'bin')));
  return file;
}

// Node has no Unix datagram sockets, so Perl receives the messages and prints each as a line.
const receiver = `
  use Socket; $| = 1;
  socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
  bind($s, sockaddr_un($ARGV[0])) or die $!;
  print "listening\\n";
  while (defined recv($s, my $told, 4096, 0)) { print "$told\\n" }`;

describe.skipIf(counterpartMissing('systemd'))('under systemd', () => {
  test('systemd accepts the units without a warning, and they restrict the program', async () => {
    const services = [await unit('idctl.service'), await unit('idctl-backup.service')];
    const files = [...services, await unit('idctl-backup.timer')];
    expect(await run('systemd-analyze', ['verify', '--man=no', ...files])).toEqual({
      stdout: '',
      stderr: '',
    });
    for (const file of services) {
      const { stdout } = await run('systemd-analyze', [
        'security',
        '--offline=true',
        '--no-pager',
        file,
      ]);
      const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
      expect(Number(exposure)).toBeLessThan(2);
    }
  });

  test('systemd learns when the daemon is ready and when it stops', async () => {
    const socket = join(folder, 'notify');
    const perl = spawn('/usr/bin/perl', ['-e', receiver, socket], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const heard: string[] = [];
    createInterface(perl.stdout).on('line', (line) => heard.push(line));
    try {
      await expect.poll(() => heard).toEqual(['listening']);
      const keyFile = join(folder, 'master.key');
      await createKeyFile(keyFile);
      const database = `sqlite:${join(folder, 'idctl.db')}`;
      await writeFile(join(folder, 'idctl.db'), '', { mode: 0o600 });
      const daemon = await startDaemon({ database, keyFile, env: { NOTIFY_SOCKET: socket } });
      await expect.poll(() => heard).toContain('READY=1');
      expect(heard).not.toContain('STOPPING=1');
      expect(await daemon.stop()).toBe(0);
      expect(heard.filter((line) => line.endsWith('=1') && line !== 'BARRIER=1')).toEqual([
        'READY=1',
        'STOPPING=1',
      ]);
    } finally {
      perl.kill();
      if (perl.exitCode === null && perl.signalCode === null) await once(perl, 'close');
    }
  });
});
