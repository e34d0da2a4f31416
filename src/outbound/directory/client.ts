import { Client, type Entry, ResultCodeError } from 'ldapts';
import type {
  DirectoryAccount,
  DirectoryClient,
  DirectoryEntry,
  DirectoryResult,
  DirectoryServer,
} from './directory.ts';
import { bindReason, directoryFailed, searchReason } from './failure.ts';
import { openWire, type Wire, type WireSurroundings } from './wire.ts';

/** A visit to a directory (security L5): one connection per question, one time limit for all. */
export function directoryClient(
  server: DirectoryServer,
  around: WireSurroundings,
): DirectoryClient {
  const { limits } = around;
  // This is slightly less than the limit, so that idctl's own answer is within the limit too.
  const deadline = AbortSignal.timeout(limits.total * 0.9);
  const onWire = async <T>(work: (wire: Wire, ask: Ask) => Promise<T>): Promise<T> => {
    around.assertIdle('a question to a directory');
    const wire = await openWire(server, around, deadline);
    try {
      return await work(wire, asking(wire, limits.operation));
    } finally {
      wire.close();
    }
  };
  return {
    greet: () => onWire(async ({ validUntil }) => ({ validUntil })),
    prove: (account) => onWire((wire, ask) => bind(clientOn(wire), ask, account)),
    search: (account, query) =>
      onWire(async (wire, ask) => {
        const client = clientOn(wire);
        const bound = await bind(client, ask, account);
        if (!bound.ok) return bound;
        const { base, limit, ...rest } = query;
        const options = { ...rest, sizeLimit: limit, explicitBufferAttributes: ['objectGUID'] };
        const found = await ask(() => client.search(base, options));
        if (!found.ok)
          return { ok: false, at: 'search', reason: searchReason(found.code), code: found.code };
        const entries = found.value.searchEntries.map(entryOf);
        // The library does not report that a size limit truncated the result.
        return { ok: true, value: { entries, more: wire.cutShort || entries.length > limit } };
      }),
  };
}

/** Asks within the time limit of one operation; gives the answer, or the directory's code. */
type Ask = <T>(what: () => Promise<T>) => Promise<BindResult<T>>;
type BindResult<T> = { ok: true; value: T } | { ok: false; code: number; said: string };

const [busy, unavailable] = [51, 52];

function asking(wire: Wire, limit: number): Ask {
  return async (what) => {
    const timer = setTimeout(() => wire.fail('timeout'), limit);
    try {
      return { ok: true, value: await what() };
    } catch (error) {
      if (wire.failure === null && error instanceof ResultCodeError) {
        const { code, message } = error;
        if (code === busy || code === unavailable)
          throw directoryFailed(wire.host, 'answer', 'busy', error);
        return { ok: false, code, said: message };
      }
      throw directoryFailed(wire.host, 'answer', wire.failure ?? 'malformed', error);
    } finally {
      clearTimeout(timer);
    }
  };
}

function clientOn(wire: Wire): Client {
  // The library uses the open connection, and ignores this address.
  return new Client({ url: 'ldap://directory', createConnection: () => wire.socket });
}

async function bind(
  client: Client,
  ask: Ask,
  { dn, password }: DirectoryAccount,
): Promise<DirectoryResult<null>> {
  // RFC 4513 §5.1.1 and §5.1.2: a bind without a DN or without a password does not authenticate
  // anyone.
  if (dn === '' || password === '') throw new Error('a bind without a name or a password');
  const bound = await ask(() => client.bind(dn, password));
  return bound.ok
    ? { ok: true, value: null }
    : { ok: false, at: 'bind', reason: bindReason(bound.code, bound.said), code: bound.code };
}

function entryOf({ dn, ...attributes }: Entry): DirectoryEntry {
  const named = Object.entries(attributes).map(([name, values]): [string, (string | Buffer)[]] => [
    name.toLowerCase(),
    [values].flat(),
  ]);
  return { dn, attributes: new Map(named) };
}
