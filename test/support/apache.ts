import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilListening } from './nginx.ts';

/** Apache with `mod_auth_openidc` in front of a page that shows who is signed in. */
export interface Apache {
  stop(): Promise<void>;
}

const modules = [
  'mpm_event',
  ...['authn_core', 'authz_core', 'authz_user', 'auth_openidc', 'mime', 'dir', 'filter', 'include'],
];

// The page shows the claims, as an application would.
const page = `<!doctype html><title>Wiki</title><h1>Wiki</h1>
<p id="email"><!--#echo var="OIDC_CLAIM_email" --></p>
<p id="groups"><!--#echo var="OIDC_CLAIM_groups" --></p>
`;

/** Starts Apache on this port of localhost, with these directives for the module. */
export async function startApache(port: number, directives: string[]): Promise<Apache> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-apache-'));
  // Apache's workers do not run as root.
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'index.shtml'), page);
  const log = join(folder, 'error.log');
  const config = [
    `ServerRoot ${folder}`,
    `ServerName localhost`,
    `Listen 127.0.0.1:${port}`,
    `PidFile ${folder}/pid`,
    `DefaultRuntimeDir ${folder}`,
    `ErrorLog ${log}`,
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
    `TypesConfig /etc/mime.types`,
    `DocumentRoot ${folder}`,
    `AddType text/html .shtml`,
    `AddOutputFilter INCLUDES .shtml`,
    `DirectoryIndex index.shtml`,
    `<Directory ${folder}>\nOptions +Includes\n</Directory>`,
    ...directives,
    `<Location />\nAuthType openid-connect\nRequire valid-user\n</Location>`,
  ];
  const file = join(folder, 'apache.conf');
  await writeFile(file, config.join('\n'));
  const child = spawn('/usr/sbin/apache2', ['-f', file, '-D', 'FOREGROUND'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await untilListening(port, async () => {
    if (child.exitCode !== null) throw new Error(`Apache ended: ${await readFile(log, 'utf8')}`);
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
