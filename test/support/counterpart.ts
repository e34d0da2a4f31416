import { existsSync } from 'node:fs';

const programs = {
  bind9: '/usr/sbin/named',
  chromium: '/usr/bin/chromium',
  fish: '/usr/bin/fish',
  'groff-base': '/usr/bin/groff',
  nginx: '/usr/sbin/nginx',
  'postgresql-client': '/usr/bin/pg_dump',
  slapd: '/usr/sbin/slapd',
  systemd: '/usr/bin/systemd-analyze',
  zsh: '/usr/bin/zsh',
};

/**
 * Whether a Debian package that tests need is missing, for `describe.skipIf`. It says so on stderr; with CI=true it
 * throws, so that nothing is skipped unseen.
 */
export function counterpartMissing(debianPackage: keyof typeof programs): boolean {
  if (existsSync(programs[debianPackage])) return false;
  const message = `needs the Debian package ${debianPackage} (./install.sh --dev as root installs it)`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`skipped: ${message}\n`);
  return true;
}
