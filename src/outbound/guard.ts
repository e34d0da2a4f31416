import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Refusal } from '../errors.ts';
import { type AddressKind, canonicalHost, kindOf } from '../text/address.ts';
import { type AllowList, entryFor } from './allow-list.ts';
import { defaultLimits } from './limits.ts';
import { inTurn, lookupsAtOnce, type ResolveHost } from './lookup-queue.ts';

// Security S9 limits which hosts tenants can make idctl connect to. A name is resolved once, all of
// its addresses are checked, and the connection goes to a checked address. `net` and `tls` do not
// look up IP literals, so the guard checks those first.

/** The port and encryption of a connection to a host. */
export interface Way {
  port: number;
  /** Whether the connection uses TLS or StartTLS. */
  encrypted: boolean;
}

/** The port and encryption that a URL implies. */
export function wayOf({ protocol, port }: URL): Way {
  const encrypted = protocol === 'https:';
  return { port: Number(port) || (encrypted ? 443 : 80), encrypted };
}

/** Checks hosts before requests. Each call refuses with `outbound_refused`. */
export interface Guard {
  /** Checks a URL without a lookup: its scheme, and its host if that is an IP address. */
  checkUrl(url: URL): void;
  /** The addresses of a host name or IP literal. All of them have passed the check. */
  resolve(host: string, way: Way): Promise<LookupAddress[]>;
  /** `resolve` as a lookup function for `net` and `tls`: they then connect to a checked address. */
  checkedLookup(way: Way): LookupFunction;
}

/** Creates a guard that allows public addresses over TLS, and the operator's exceptions. */
export function createGuard(allow: AllowList, resolveHost: ResolveHost = systemResolve): Guard {
  const judge = (host: string, address: string, { port, encrypted }: Way) => {
    if (allow.host(host, port) || allow.address(address, port)) return;
    const entry = entryFor(host, port);
    if (!encrypted) throw plainRefused(entry);
    const kind = kindOf(address);
    if (kind !== 'public') throw addressRefused({ host, address, kind, entry });
  };
  const resolve = async (text: string, way: Way) => {
    const host = canonicalHost(text);
    const family = isIP(host);
    const found = family === 0 ? await resolveHost(host) : [{ address: host, family }];
    for (const { address } of found) judge(host, address, way);
    return found;
  };
  return {
    checkUrl(url) {
      const host = canonicalHost(url.hostname);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw schemeRefused(host);
      if (isIP(host) !== 0) judge(host, host, wayOf(url));
    },
    resolve,
    checkedLookup: (way) => (host, options, callback) => {
      resolve(host, way).then(
        (found) => answer(found, options, callback),
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    },
  };
}

function answer(
  found: LookupAddress[],
  { all }: Parameters<LookupFunction>[1],
  callback: Parameters<LookupFunction>[2],
): void {
  const [first] = found;
  if (first === undefined)
    callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
  else if (all) callback(null, found);
  else callback(null, first.address, first.family);
}

// The process has one queue, because its lookups share threads.
const systemResolve = inTurn(
  (host) =>
    new Promise((resolve, reject) => {
      lookup(host, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
    }),
  lookupsAtOnce(Number(process.env['UV_THREADPOOL_SIZE']) || 4),
  defaultLimits.total,
);

interface Judged {
  host: string;
  address: string;
  kind: AddressKind;
  /** The entry that the operator can add. */
  entry: string;
}

function addressRefused({ host, address, kind, entry }: Judged): Refusal {
  return new Refusal(
    'outbound_refused',
    `${host} has a ${kind} address, to which connections are not allowed`,
    {
      hint: {
        technical: `If this is intended, the operator can add ${entry} to the list outbound.allow in idctl.yaml.`,
      },
      failure: { reason: kind },
      extra: { reason: kind },
      cause: new Error(`${host} is ${address}`),
    },
  );
}

function plainRefused(entry: string): Refusal {
  return new Refusal('outbound_refused', `http://${entry} is not encrypted`, {
    hint: {
      technical: `Use https. Or the operator can add ${entry} to the list outbound.allow in idctl.yaml.`,
    },
    failure: { reason: 'plain_http' },
    extra: { reason: 'plain_http' },
  });
}

function schemeRefused(host: string): Refusal {
  return new Refusal(
    'outbound_refused',
    `The URL for ${host || 'the host'} is neither https nor http`,
    {
      hint: { technical: 'Use an https:// URL; outbound.allow cannot allow other schemes.' },
      failure: { reason: 'scheme' },
      extra: { reason: 'scheme' },
    },
  );
}
