import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { writeDebian } from './debian.ts';
import { run } from './release.ts';

// Docker with Compose, and Podman with kubectl, in a Debian 13 with its own process and network
// namespaces.

/** The Debian with both engines. `docker` and `podman` have an image named postgres:15. */
export interface Engines {
  /** Runs a script as root and returns its output. */
  run(script: string): Promise<string>;
  /** Runs a program of this machine in the network of the engines. */
  runBeside(program: string, words: string[]): Promise<string>;
  close(): Promise<void>;
}

const packages = [
  ...['aardvark-dns', 'catatonit', 'docker-cli', 'docker-compose', 'docker.io', 'iproute2'],
  ...['iptables', 'kubernetes-client', 'netavark', 'nftables', 'openssl', 'podman', 'postgresql'],
];

/** Installs Debian into `root`, which does not exist yet, and starts Docker. */
export async function startEngines(root: string): Promise<Engines> {
  await writeDebian(root, 'trixie', packages);
  for (const [path, script] of Object.entries({ podman, 'serve-postgres': postgres })) {
    writeFileSync(join(root, 'usr/local/bin', path), script);
    chmodSync(join(root, 'usr/local/bin', path), 0o755);
  }
  mkdirSync(join(root, 'old'));
  const spaces = ['--mount', '--net', '--pid', '--fork', '--kill-child'];
  const process = spawn('/usr/bin/unshare', [...spaces, 'sh', '-euc', boot, 'sh', root], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { pid } = process;
  let first = '';
  while (first === '') {
    if (process.exitCode !== null) throw new Error('Docker ended');
    first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    await wait(100);
  }
  const inside = ['--target', first, '--mount', '--net', '--pid', '--root', '--wd', ...clean];
  const engines: Engines = {
    run: async (script) =>
      (await run('nsenter', [...inside, 'sh', '-euc', `exec 2>&1; cd /root\n${script}`])).stdout,
    runBeside: async (program, words) =>
      (await run('nsenter', ['--target', first, '--net', program, ...words])).stdout,
    close: async () => {
      process.kill('SIGKILL');
      if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
    },
  };
  while (process.exitCode === null && !(await engines.run('docker info').catch(() => '')))
    await wait(500);
  await engines.run(importPostgres);
  return engines;
}

const clean = ['/usr/bin/env', '-i', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin', 'HOME=/root'];

/** Makes the folder $1 the root of this process, and starts Docker there. */
const boot = `
  mount --make-rprivate /
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  mount -t tmpfs tmpfs "$1/run"
  ip link set lo up
  cd "$1"
  pivot_root . old
  exec chroot . sh -c 'umount -l /old; exec ${clean.join(' ')} tini dockerd >/var/log/docker 2>&1'`;

const podman = `#!/bin/sh
export PODMAN_IGNORE_CGROUPSV1_WARNING=1
exec /usr/bin/podman --cgroup-manager cgroupfs --events-backend file --runtime runc "$@"
`;

/** Starts PostgreSQL like Docker Hub's image postgres:15, with the same variables. */
const postgres = `#!/bin/sh
set -eu
data=/var/lib/postgresql/data
install -d -o postgres -m 700 $data /run/postgresql
if [ ! -e $data/PG_VERSION ]; then
  install -o postgres -m 600 "$POSTGRES_PASSWORD_FILE" /tmp/password
  runuser -u postgres -- initdb --encoding UTF8 --username "$POSTGRES_USER" --pwfile /tmp/password \\
    --auth-local trust --auth-host scram-sha-256 $data
  echo 'host all all all scram-sha-256' >>$data/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | runuser -u postgres -- postgres --single -D $data postgres
fi
exec runuser -u postgres -- postgres -D $data -c listen_addresses='*'
`;

/** Imports this Debian with its PostgreSQL as the image, so that no registry is needed. */
const importPostgres = `
  cd /
  programs=$(echo usr/lib/postgresql/*/bin)
  tar --create --exclude=usr/share/doc --exclude=usr/share/locale --exclude=usr/libexec \\
    --exclude=usr/sbin/dockerd bin sbin lib lib64 etc usr tmp var/lib/dpkg var/run |
    docker import --change 'ENTRYPOINT ["serve-postgres"]' \\
      --change "ENV PATH=/$programs:/usr/local/bin:/usr/sbin:/usr/bin" - postgres:15
  docker save postgres:15 | podman load`;
