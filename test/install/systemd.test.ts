import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startCommand } from '../../src/cli/next.ts';
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

test('before idctl init, the daemon says so and exits with the code that systemd does not restart', async () => {
  const service = await readFile(await unit('idctl.service'), 'utf8');
  const env = { PATH: process.env['PATH'], HOME: folder, SYSTEMD_UNIT_PATH: folder };
  const words = [join(checkout, 'src/main.ts'), 'serve'];
  const { code, stderr } = await run(process.execPath, words, { env }).catch((error) => error);
  expect([code, /^RestartPreventExitStatus=(.*)$/m.exec(service)?.[1]]).toEqual([2, '2']);
  expect(stderr).toContain('idctl is not set up: ');
  expect(stderr).toContain('/etc/idctl/idctl.yaml do not exist.');
  expect(stderr).toContain('hint: As root, run: idctl init\n');
  expect(await readdir(folder)).toEqual(['idctl.service']);
});

test('hints start the daemon with its unit, unless the command names another configuration', async () => {
  await unit('idctl.service');
  const env = { SYSTEMD_UNIT_PATH: folder };
  expect(startCommand(env, undefined)).toBe('systemctl start idctl');
  expect(startCommand(env, '/etc/idctl/idctl.yaml')).toBe('systemctl start idctl');
  expect(startCommand(env, '/srv/idctl.yaml')).toBe('idctl serve');
  expect(startCommand({ ...env, IDCTL_CONFIG: '/srv/idctl.yaml' }, undefined)).toBe('idctl serve');
  expect(startCommand({ SYSTEMD_UNIT_PATH: '/nowhere' }, undefined)).toBe('idctl serve');
});

test('a reload needs only the shell, because a minimal Debian has no /bin/kill', async () => {
  const service = await readFile(await unit('idctl.service'), 'utf8');
  const [, command = ''] = /^ExecReload=\/bin\/sh -c '(.*)'$/m.exec(service) ?? [];
  expect(command).toContain('$MAINPID');
  const sleep = spawn('/bin/sleep', ['60']);
  const ended = once(sleep, 'close');
  await run('/bin/sh', ['-c', command], { env: { MAINPID: String(sleep.pid), PATH: '' } });
  expect(await ended).toEqual([null, 'SIGHUP']);
});

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
