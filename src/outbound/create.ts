import type { Config } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import { allowList } from './address.ts';
import { createResolver } from './doh.ts';
import { createGuard } from './guard.ts';
import { defaultLimits, guardedClient, type Limits, trustedClient } from './http.ts';
import { createProviders } from './oidc.ts';
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
  const guarded = guardedClient(
    createGuard(allow),
    trustedRoots('outbound.caFile', config.outbound.caFile),
    limits,
  );
  const trusted = trustedClient(trustedRoots('doh.caFile', config.doh.caFile), limits);
  const lookupTxt = createResolver(trusted.fetch, config.doh.resolverUrl);
  const providers = createProviders(guarded.fetch, limits.total);
  return {
    async lookupTxt(domain) {
      assertIdle('a DNS lookup');
      return lookupTxt(domain);
    },
    async authorizationUrl(client, request) {
      assertIdle('the discovery of an identity provider');
      return providers.authorizationUrl(client, request);
    },
    async redeem(client, response) {
      assertIdle('a sign-in at an identity provider');
      return providers.redeem(client, response);
    },
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
