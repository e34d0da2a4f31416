import { type BlockList, isIPv6 } from 'node:net';
import { canonicalHost, isIn, parseRange } from '../text/address.ts';

/** The hosts that the operator allows, even if private or unencrypted: `outbound.allow`, parsed. */
export interface AllowList {
  /** Whether an entry allows this host at this port, by name or, for an address, by range. */
  host(host: string, port?: number): boolean;
  /** Whether an entry allows this address at this port, directly or by range. */
  address(address: string, port?: number): boolean;
}

/** One entry. Without `port` it allows all ports. */
interface Allowed {
  host?: string;
  list?: BlockList;
  port?: number;
}

/** Parses ranges, and hosts and addresses with or without a port. `fault`: the first bad entry. */
export function allowList(entries: string[]): AllowList & { fault?: string } {
  const read = entries.map(readEntry);
  const fault = entries.find((_, at) => read[at] === null);
  const allowed = read.filter((one) => one !== null);
  const address = (text: string, port?: number) =>
    allowed.some((one) => isAt(one, port) && one.list !== undefined && isIn(one.list, text));
  const host = (text: string, port?: number) => {
    const name = canonicalHost(text);
    return allowed.some((one) => isAt(one, port) && one.host === name) || address(name, port);
  };
  return { address, host, ...(fault === undefined ? {} : { fault }) };
}

function isAt({ port: named }: Allowed, port: number | undefined): boolean {
  return named === undefined || named === port;
}

function readEntry(entry: string): Allowed | null {
  const [, bracketed, bare, digits] = /^(?:\[([^\]]+)\]|([^:[\]/]+)):(\d{1,5})$/.exec(entry) ?? [];
  if (digits === undefined) return readHost(entry);
  const port = Number(digits);
  const place = readHost(bracketed ?? bare ?? '');
  const isPlace = place !== null && (bracketed === undefined || isIPv6(bracketed));
  return isPlace && port >= 1 && port <= 65535 ? { ...place, port } : null;
}

function readHost(entry: string): Allowed | null {
  const list = parseRange(entry);
  if (list !== null) return { list };
  return /^[a-z0-9_.-]+$/i.test(entry) ? { host: canonicalHost(entry) } : null;
}

const usualPorts = [80, 443, 389, 636];

/** The entry of `outbound.allow` for a host and port. It omits a default port. */
export function entryFor(host: string, port: number): string {
  if (usualPorts.includes(port)) return host;
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
