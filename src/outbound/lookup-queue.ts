import type { LookupAddress } from 'node:dns';
import PQueue from 'p-queue';
import { getDomain } from 'tldts';
import { queueForEach, waitForTurn } from '../host/queue.ts';

/**
 * The maximum number of lookups of tenants' host names at the same time, given the number of libuv
 * threads. libuv uses at most half of its threads for lookups. One of that half stays free for the
 * operator's names. With a result of one, a slow name would delay all others, so it is at least
 * two.
 */
export function lookupsAtOnce(threads: number): number {
  return Math.max(2, Math.ceil(threads / 2) - 1);
}

/**
 * Queues the lookups of a resolver. Each lookup occupies a thread of libuv's pool, which all
 * tenants share, until the system gives up. So one lookup per domain runs at a time, and at most
 * `places` in total. Requests for the same name share a lookup. All domains with lookups slower
 * than `slowness` share one slot for a while. A caller that waits longer than `patience` gets a
 * timeout (both in milliseconds).
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
  return Object.assign(new Error('no lookup started in time'), { code: 'ETIMEDOUT' });
}

const rememberedSlow = 15 * 60_000;

/** Domains that recently had a slow lookup. A quick lookup does not clear a domain. */
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

/** Resolves a host name to all of its addresses, as the system does. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;
