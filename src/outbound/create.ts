import type { SecureContext } from 'node:tls';
import type { Config } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import { type AllowList, allowList } from './address.ts';
import { defaultLimits, type Limits } from './limits.ts';
import type { Outbound } from './outbound.ts';
import { trustedRoots } from './roots.ts';

/**
 * The network as the configuration allows it. `assertIdle` is called before each request with what is about to be
 * asked, and throws when a transaction is open. Refuses `config_invalid`, naming the setting.
 */
export function createOutbound(
  config: Config,
  assertIdle: (what: string) => void,
  limits: Limits = defaultLimits,
): Outbound {
  const allow = allowList(config.outbound.allow);
  if (allow.fault !== undefined) throw allowFault(allow.fault);
  const tenantRoots = trustedRoots('outbound.caFile', config.outbound.caFile);
  const resolverRoots = trustedRoots('doh.caFile', config.doh.caFile);
  let opened: ReturnType<typeof openNetwork> | undefined;
  const network = () => {
    opened ??= openNetwork(allow, tenantRoots, resolverRoots, config.doh.resolverUrl, limits);
    return opened;
  };
  return {
    async lookupTxt(domain) {
      assertIdle('a DNS lookup');
      return (await network()).lookupTxt(domain);
    },
    async authorizationUrl(client, request) {
      assertIdle('the discovery of an identity provider');
      return (await network()).authorizationUrl(client, request);
    },
    async redeem(client, response) {
      assertIdle('a sign-in at an identity provider');
      return (await network()).redeem(client, response);
    },
    async examineProvider(client, now) {
      assertIdle('an examination of an identity provider');
      return (await network()).examineProvider(client, now);
    },
    async visitDirectory(server) {
      const [{ createGuard }, { visitDirectory }] = await Promise.all([
        import('./guard.ts'),
        import('./directory/visit.ts'),
      ]);
      const plaintext = config.ldap.allowPlaintext === 'on';
      return visitDirectory(server, {
        guard: createGuard(allow),
        roots: tenantRoots,
        limits,
        plaintext,
        assertIdle,
      });
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

// Loaded when first needed: the clients take 170 ms, and most commands never ask the network.
async function openNetwork(
  allow: AllowList,
  tenantRoots: SecureContext | undefined,
  resolverRoots: SecureContext | undefined,
  resolverUrl: string,
  limits: Limits,
): Promise<Omit<Outbound, 'visitDirectory'>> {
  const [
    { createGuard },
    { guardedClient, trustedClient },
    { createResolver },
    { createProviders },
    { createExaminer },
  ] = await Promise.all([
    import('./guard.ts'),
    import('./http.ts'),
    import('./doh.ts'),
    import('./oidc.ts'),
    import('./examine/examine.ts'),
  ]);
  const guard = createGuard(allow);
  const guarded = guardedClient(guard, tenantRoots, limits);
  const trusted = trustedClient(resolverRoots, limits);
  return {
    lookupTxt: createResolver(trusted.fetch, resolverUrl),
    ...createProviders(guarded.fetch, limits.total),
    examineProvider: createExaminer(guarded, guard, limits.total),
    async close() {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
}

function allowFault(entry: string): Refusal {
  return new Refusal('config_invalid', `outbound.allow: ${entry} is no host name, address or range`, {
    hint: 'Entries look like idp.internal, 10.1.2.3 or 10.0.0.0/8.',
  });
}
