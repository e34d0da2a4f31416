import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

const programs = {
  bash: '/usr/bin/bash',
  bind9: '/usr/sbin/named',
  bsdutils: '/usr/bin/script',
  caddy: '/usr/bin/caddy',
  chromium: '/usr/bin/chromium',
  debootstrap: '/usr/sbin/debootstrap',
  'etcd-server': '/usr/bin/etcd',
  fish: '/usr/bin/fish',
  'groff-base': '/usr/bin/groff',
  haproxy: '/usr/sbin/haproxy',
  'libapache2-mod-auth-openidc': '/usr/lib/apache2/modules/mod_auth_openidc.so',
  lintian: '/usr/bin/lintian',
  nginx: '/usr/sbin/nginx',
  patroni: '/usr/bin/patroni',
  pgbouncer: '/usr/sbin/pgbouncer',
  podman: '/usr/bin/podman',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  'postgresql-client': '/usr/bin/pg_dump',
  'python3-pysaml2': '/usr/lib/python3/dist-packages/saml2/server.py',
  runc: '/usr/sbin/runc',
  simplesamlphp: '/usr/share/simplesamlphp/www/index.php',
  slapd: '/usr/sbin/slapd',
  systemd: '/usr/bin/systemd-analyze',
  'systemd-container': '/usr/bin/systemd-nspawn',
  zsh: '/usr/bin/zsh',
};

/**
 * Whether a Debian package that tests need is missing, for `describe.skipIf`. A missing package is
 * named on stderr. With CI=true this throws instead, so that no test is skipped silently.
 */
export function counterpartMissing(debianPackage: keyof typeof programs): boolean {
  if (existsSync(programs[debianPackage])) return false;
  return skipping(
    `needs the Debian package ${debianPackage} (./install.sh --dev as root installs it)`,
  );
}

/**
 * An IPv4 address of this machine that is not loopback. If there is none, it reports or throws like
 * `counterpartMissing`.
 */
export function secondAddress(): string | undefined {
  const address = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.internal === false && one.family === 'IPv4')?.address;
  if (address === undefined) skipping('needs a network address that is not loopback');
  return address;
}

/**
 * Whether the tests run without root, for `describe.skipIf`. If so, it reports or throws like
 * `counterpartMissing`.
 */
export function rootMissing(): boolean {
  return process.getuid?.() !== 0 && skipping('needs root');
}

function skipping(message: string): true {
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`skipped: ${message}\n`);
  return true;
}
