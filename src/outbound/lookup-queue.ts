import type { LookupAddress } from 'node:dns';
import PQueue from 'p-queue';
import { getDomain } from 'tldts';
import { queueForEach, waitForTurn } from '../queue.ts';

/**
 * How many lookups of tenant-supplied names run at once, given so many threads. libuv allows half
 * of its threads for lookups. One of those stays free for the operator's names, including the
 * database's; the other half hashes. At least two, or one slow name would delay all others.
 */
export function lookupsAtOnce(threads: number): number {
  return Math.max(2, Math.ceil(threads / 2) - 1);
}

/**
 * Queues lookups of the given resolver. A lookup keeps a thread of libuv's pool, which all tenants
 * share, until the system gives up. So one lookup per domain runs at a time, and at most `places`
 * in total. Requests for the same name share one lookup. Domains with lookups slower than
 * `slowness` share one place for a while, however many a tenant has. A caller that waits longer
 * than `patience` gets a timeout (milliseconds, both).
 */
export function inTurn(
  resolveHost: ResolveHost,
  places: number,
  patience: number,
  slowness = 1000,
): ResolveHost {
  const asked = new Map<string, Promise<LookupAddress[]>>();
  const ofDomain = queueForEach();
  const [all, ofSlow, unhindered] = [
    new PQueue({ concurrency: places }),
    new PQueue({ concurrency: 1 }),
    new PQueue(),
  ];
  const slow = slowDomains(slowness);

  const lookUp = (host: string) => {
    const domain = getDomain(host, { allowPrivateDomains: true }) ?? host;
    const asSlow = () => (slow.has(domain) ? ofSlow : unhindered);
    return waitForTurn(
      [() => ofDomain(domain), asSlow, () => all],
      async () => {
        const began = performance.now();
        try {
          return await resolveHost(host);
        } finally {
          slow.note(domain, performance.now() - began);
        }
      },
      { patience, late },
    );
  };
  return (host) => {
    const already = asked.get(host);
    if (already !== undefined) return already;
    const found = lookUp(host).finally(() => asked.delete(host));
    asked.set(host, found);
    return found;
  };
}

function late(): Error {
  return Object.assign(new Error('no lookup began in time'), { code: 'ETIMEDOUT' });
}

const rememberedSlow = 15 * 60_000;

/** The domains with a slow lookup lately. A quick one in between does not change that. */
function slowDomains(slowness: number) {
  const until = new Map<string, number>();
  const has = (domain: string) => (until.get(domain) ?? 0) > performance.now();
  return {
    has,
    note(domain: string, took: number) {
      if (took < slowness) return;
      for (const known of until.keys()) if (!has(known)) until.delete(known);
      until.set(domain, performance.now() + rememberedSlow);
    },
  };
}

/** Resolves a host name to all of its addresses, like the system does. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;
