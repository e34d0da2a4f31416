import type { LookupAddress } from 'node:dns';
import { getDomain } from 'tldts';
import type { ResolveHost } from './guard.ts';

/**
 * How many lookups of names that tenants give run at once beside so many threads. libuv lets lookups have half of them;
 * one of those stays free for the names that the operator gave, the database's among them, and the others hash. Two at
 * least: one slow name would keep everybody waiting.
 */
export function lookupsAtOnce(threads: number): number {
  return Math.max(2, Math.ceil(threads / 2) - 1);
}

/**
 * The same resolver, asked in turn. A lookup keeps a thread of libuv's pool, which all tenants share, until the system
 * gives up: of one domain one lookup runs at a time, of all of them as many as there are places, and a name that is
 * asked for twice is looked up once. Who waits longer than `patience` (milliseconds) is told that it took too long.
 */
export function inTurn(resolveHost: ResolveHost, places: number, patience: number): ResolveHost {
  const asked = new Map<string, Promise<LookupAddress[]>>();
  const waiting: { domain: string; start: () => void }[] = [];
  const running = new Set<string>();

  const admit = () => {
    for (const one of [...waiting]) {
      if (running.size >= places) return;
      if (running.has(one.domain)) continue;
      waiting.splice(waiting.indexOf(one), 1);
      running.add(one.domain);
      one.start();
    }
  };
  const lookUp = (host: string) => {
    const domain = getDomain(host, { allowPrivateDomains: true }) ?? host;
    return new Promise<LookupAddress[]>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        resolveHost(host)
          .then(resolve, reject)
          .finally(() => {
            running.delete(domain);
            admit();
          });
      };
      const one = { domain, start };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1);
        reject(Object.assign(new Error('no lookup began in time'), { code: 'ETIMEDOUT' }));
      }, patience);
      waiting.push(one);
      admit();
    });
  };
  return (host) => {
    const already = asked.get(host);
    if (already !== undefined) return already;
    const found = lookUp(host).finally(() => asked.delete(host));
    asked.set(host, found);
    return found;
  };
}
