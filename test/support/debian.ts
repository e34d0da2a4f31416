import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { run } from './release.ts';

// A fresh Debian in a container of systemd-nspawn, with systemd as its init process. It shares
// the network of this machine.

/** A booted Debian. */
export interface Debian {
  /** Runs a command in its shell as root, and returns the output. */
  run(command: string, env?: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

/** Installs a fresh Debian into a folder that does not exist yet. */
export async function writeDebian(root: string, release: string, packages: string[]) {
  const more = `--include=${['ca-certificates', ...packages].join(',')}`;
  const mirror = 'http://deb.debian.org/debian';
  await run('debootstrap', ['--variant=minbase', more, release, root, mirror]);
}

/** The packages that a Debian needs to boot. */
export const bootable = ['dbus', 'systemd', 'systemd-sysv'];

export async function bootDebian(root: string): Promise<Debian> {
  const files = /Max open files +\d+ +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  const container = spawn(
    '/usr/bin/systemd-nspawn',
    [
      ...['--quiet', `--directory=${root}`, '--register=no', '--keep-unit', '--console=pipe'],
      ...[`--rlimit=RLIMIT_NOFILE=${files}`, '--kill-signal=SIGRTMIN+3', '/lib/systemd/systemd'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const first = await firstProcess(container);
  const inside = ['--target', first, '--all', '/usr/bin/env', '-i', `PATH=${path}`];
  const debian: Debian = {
    run: async (command, env = {}) => {
      const variables = Object.entries({ DEBIAN_FRONTEND: 'noninteractive', ...env });
      const words = [...inside, ...variables.map((pair) => pair.join('='))];
      const { stdout } = await run('nsenter', [
        ...words,
        'sh',
        '-euc',
        `exec </dev/null 2>&1\n${command}`,
      ]);
      return stdout;
    },
    close: async () => {
      if (container.exitCode !== null) return;
      container.kill('SIGTERM');
      await once(container, 'exit');
    },
  };
  await debian.run(
    'until systemctl is-system-running --wait | grep -E "running|degraded"; do sleep 1; done',
  );
  return debian;
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Waits until systemd is the container's init process, and returns its PID on the host. */
async function firstProcess(container: ChildProcess): Promise<string> {
  const { pid } = container;
  for (;;) {
    if (container.exitCode !== null) throw new Error('systemd-nspawn ended');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const first = children.find((child) => isFirst(child));
    if (first !== undefined) return first;
    await wait(100);
  }
}

function isFirst(pid: string): boolean {
  try {
    const inside = /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return inside && readFileSync(`/proc/${pid}/comm`, 'utf8') === 'systemd\n';
  } catch {
    // The process has ended, or there is no child yet.
    return false;
  }
}
