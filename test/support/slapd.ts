import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createAuthority } from './certificates.ts';
import { connectWhenListening, freePorts } from './ports.ts';

/**
 * An OpenLDAP server on loopback with the suffix `dc=acme,dc=test`, where only the account
 * `service` may search.
 */
export interface Slapd {
  /** `ldaps://127.0.0.1:…` */
  ldaps: string;
  /** `ldap://127.0.0.1:…`, which offers StartTLS. */
  ldap: string;
  /** The port of `ldaps`. */
  port: number;
  /** The certificate of its authority, in PEM. */
  ca: string;
  /** The log so far: connections, binds, searches. The latest lines may be missing. */
  log: string[];
  /**
   * The log, once it has the end of all connections so far. slapd may log a result after it sent
   * the result, even after the end of the connection.
   */
  wholeLog(): Promise<string[]>;
  /** Adds or changes entries (LDIF). */
  apply(ldif: string): Promise<void>;
  /**
   * Adds a person under `ou=people` with the password `directoryPassword` and these attributes,
   * besides cn and sn.
   */
  person(uid: string, attributes: Record<string, string | string[]>): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** Lines of slapd.conf before the database. */
  global?: string;
  /** The names in the certificate. */
  names?: string[];
  /** Whether the certificate has expired. */
  expired?: boolean;
}

export const suffix = 'dc=acme,dc=test';
export const service = { bindDn: `cn=idctl,${suffix}`, bindPassword: 'a secret of the directory' };
export const directoryPassword = 'Ada directory 1';
const admin = { dn: `cn=admin,${suffix}`, password: 'of the tests' };

/** Starts slapd on free ports, with all of its data in a temporary folder. */
export async function startSlapd(options: Options = {}): Promise<Slapd> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-slapd-'));
  const authority = await createAuthority(folder);
  const names = options.names ?? ['DNS:localhost', 'IP:127.0.0.1'];
  const leaf = options.expired
    ? await authority.issueExpired(...names)
    : await authority.issue(...names);
  const [plain = 0, secure = 0] = await freePorts(2);
  const config = join(folder, 'slapd.conf');
  await mkdir(join(folder, 'data'));
  await writeFile(config, configuration(folder, leaf, options.global ?? ''));
  await fed('/usr/sbin/slapadd', ['-f', config], seed);
  const [ldap, ldaps] = [`ldap://127.0.0.1:${plain}`, `ldaps://127.0.0.1:${secure}`];
  const log: string[] = [];
  const server = await started(['-f', config, '-d', 'stats', '-h', `${ldap}/ ${ldaps}/`], log);
  await untilAnswering(plain);
  const apply = (ldif: string) =>
    fed('ldapmodify', ['-a', '-x', '-H', ldap, '-D', admin.dn, '-w', admin.password], ldif);
  return {
    ldap,
    ldaps,
    port: secure,
    ca: await readFile(authority.caFile, 'utf8'),
    log,
    wholeLog: logReader(plain, log),
    apply,
    person: (uid, attributes) => apply(personEntry(uid, attributes)),
    async stop() {
      const exited = once(server, 'exit');
      if (server.kill('SIGTERM')) await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until slapd answers: it logs that it starts before it listens on its ports. Returns the port
 * of the client.
 */
async function untilAnswering(port: number): Promise<number | undefined> {
  const socket = await connectWhenListening(port);
  const { localPort } = socket;
  // An unbind request (RFC 4511 §4.3) closes the connection without an error.
  socket.end(Buffer.from('30050201014200', 'hex')).resume();
  await once(socket, 'close');
  return localPort;
}

/**
 * Connects after all others, and waits until the log has this connection and the end of every one.
 * The function returns the log without its own connections.
 */
function logReader(port: number, log: string[]): () => Promise<string[]> {
  const own = new Set<string>();
  const connectionIn = (line: string) => /\bconn=\d+/.exec(line)?.[0] ?? '';
  const connections = (word: string) => log.filter((line) => line.includes(word)).map(connectionIn);
  return async () => {
    const from = ` ACCEPT from IP=127.0.0.1:${await untilAnswering(port)} `;
    for (;;) {
      const last = connections(from).at(-1);
      const ended = new Set(connections(' closed'));
      if (last !== undefined && connections(' ACCEPT ').every((each) => ended.has(each))) {
        own.add(last);
        return log.filter((line) => !own.has(connectionIn(line)));
      }
      await pause(5);
    }
  };
}

function configuration(
  folder: string,
  leaf: { certFile: string; keyFile: string },
  global: string,
): string {
  const schemas = ['core', 'cosine', 'inetorgperson'].map(
    (name) => `include /etc/ldap/schema/${name}.schema`,
  );
  return `${schemas.join('\n')}
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile ${join(folder, 'slapd.pid')}
TLSCertificateFile ${leaf.certFile}
TLSCertificateKeyFile ${leaf.keyFile}
${global}
database mdb
suffix "${suffix}"
rootdn "${admin.dn}"
rootpw "${admin.password}"
directory ${join(folder, 'data')}
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${service.bindDn}" read by * none
`;
}

const seed = `dn: ${suffix}
objectClass: dcObject
objectClass: organization
dc: acme
o: Acme

dn: ou=people,${suffix}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${suffix}
objectClass: organizationalUnit
ou: groups

dn: ${service.bindDn}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: idctl
userPassword: ${service.bindPassword}
`;

/** An entry under `ou=people`; an attribute without values is left out. */
function personEntry(uid: string, attributes: Record<string, string | string[]>): string {
  const all = { sn: 'Byron', cn: uid, userPassword: directoryPassword, ...attributes };
  const lines = Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}:: ${Buffer.from(value).toString('base64')}`),
  );
  return `dn: uid=${uid},ou=people,${suffix}\nobjectClass: inetOrgPerson\n${lines.join('\n')}\n`;
}

async function fed(program: string, args: string[], input: string): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said}`);
}

function started(args: string[], log: string[]): Promise<ChildProcess> {
  const server = spawn('/usr/sbin/slapd', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`slapd did not start:\n${log.join('\n')}`)));
    createInterface({ input: server.stderr }).on('line', (line) => {
      log.push(line);
      if (line.includes('slapd starting')) resolve(server);
    });
  });
}
