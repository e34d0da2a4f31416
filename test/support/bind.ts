import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Answer, decode, encode } from 'dns-packet';
import { createAuthority } from './certificates.ts';
import { freePorts } from './ports.ts';

/** BIND 9 on loopback: authoritative for the given zones, with DNS over HTTPS (HTTP/2 only). */
export interface Bind {
  /** The value for `doh.resolverUrl`. */
  resolverUrl: string;
  /** The value for `doh.caFile`. */
  caFile: string;
  /** Adds a TXT record; several strings make one record of several character-strings. */
  publishTxt(name: string, ...strings: string[]): Promise<void>;
  /** Removes all TXT records of a name. */
  withdrawTxt(name: string): Promise<void>;
  publishCname(name: string, target: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts BIND with these zones, such as `acme.test`, each with only SOA, NS and one A record. */
export async function startBind(...zones: string[]): Promise<Bind> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bind-'));
  const authority = await createAuthority(folder);
  const leaf = await authority.issue('DNS:localhost', 'IP:127.0.0.1');
  const [port = 0, https = 0] = await freePorts(2);
  const config = join(folder, 'named.conf');
  await writeFile(config, configuration(folder, zones, port, https, leaf));
  for (const zone of zones) await writeFile(join(folder, `${zone}.zone`), emptyZone(zone));
  const named = await started(config);
  const update = (record: Answer) => sendUpdate(port, zoneOf(record.name, zones), record);
  const base = { ttl: 0, class: 'IN' as const };
  return {
    resolverUrl: `https://127.0.0.1:${https}/dns-query`,
    caFile: authority.caFile,
    publishTxt: (name, ...strings) => update({ ...base, type: 'TXT', name, data: strings }),
    publishCname: (name, target) => update({ ...base, type: 'CNAME', name, data: target }),
    // RFC 2136 §2.5.2: class ANY without data deletes all records of this name and type.
    withdrawTxt: (name) => update({ ...base, class: 'ANY', type: 'TXT', name, data: [] }),
    async stop() {
      const exited = once(named, 'exit');
      if (named.kill('SIGTERM')) await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(
  folder: string,
  zones: string[],
  port: number,
  https: number,
  leaf: { certFile: string; keyFile: string },
): string {
  const served = zones.map(
    (zone) =>
      `zone "${zone}" { type primary; file "${join(folder, zone)}.zone"; allow-update { 127.0.0.1; }; };`,
  );
  return `
    tls test { cert-file "${leaf.certFile}"; key-file "${leaf.keyFile}"; };
    options {
      directory "${folder}"; pid-file none; session-keyfile none;
      listen-on port ${port} { 127.0.0.1; };
      listen-on port ${https} tls test http default { 127.0.0.1; };
      listen-on-v6 { none; };
      recursion no; dnssec-validation no; empty-zones-enable no; allow-query { any; };
    };
    controls { };
    ${served.join('\n')}
  `;
}

function emptyZone(zone: string): string {
  return `$TTL 0\n@ IN SOA ns.${zone}. admin.${zone}. 1 3600 600 86400 0\n@ IN NS ns.${zone}.\nns IN A 127.0.0.1\n`;
}

function started(config: string): Promise<ChildProcess> {
  const named = spawn('/usr/sbin/named', ['-g', '-n', '1', '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    named.once('error', reject);
    named.once('exit', () => reject(new Error(`named did not start:\n${said.join('\n')}`)));
    createInterface({ input: named.stderr }).on('line', (line) => {
      said.push(line);
      if (line.endsWith(' running')) resolve(named);
    });
  });
}

/** Sends one dynamic update (RFC 2136) and waits for the answer. */
async function sendUpdate(port: number, zone: string, record: Answer): Promise<void> {
  const packet = encode({
    id: 1,
    flags: 5 << 11,
    questions: [{ type: 'SOA', name: zone }],
    authorities: [record],
  });
  const socket = createSocket('udp4');
  try {
    socket.send(packet, port, '127.0.0.1');
    const [answer]: Buffer[] = await once(socket, 'message', { signal: AbortSignal.timeout(5000) });
    const rcode = answer === undefined ? -1 : (decode(answer).flags ?? 0) & 0xf;
    if (rcode !== 0)
      throw new Error(`named refused the update of ${record.name} with rcode ${rcode}`);
  } finally {
    socket.close();
  }
}

function zoneOf(name: string, zones: string[]): string {
  const zone = zones.find((one) => name === one || name.endsWith(`.${one}`));
  if (zone === undefined) throw new Error(`${name} is in none of the zones ${zones.join(', ')}`);
  return zone;
}
