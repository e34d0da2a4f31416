import type { SecureContext } from 'node:tls';
import type { Config } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import { type AllowList, allowList } from './allow-list.ts';
import type { HttpClient } from './http.ts';
import { defaultLimits, type Limits } from './limits.ts';
import type { Outbound } from './outbound.ts';
import { trustedRoots } from './roots.ts';
import type { Saml } from './saml/saml.ts';
import type { openSocialProviders } from './social.ts';

/**
 * Creates the network access that the configuration allows. `assertIdle` is called before each
 * request with the request's name, and throws if a transaction is open. Refuses with
 * `config_invalid`, naming the setting.
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
  const mailRoots = trustedRoots('mail.caFile', config.mail.caFile);
  const mailServer = () => mailServerOf(config, mailRoots);
  let opened: ReturnType<typeof openNetwork> | undefined;
  const network = () => {
    opened ??= openNetwork(allow, tenantRoots, resolverRoots, config.doh.resolverUrl, limits);
    return opened;
  };
  let socialOpened: Promise<ReturnType<typeof openSocialProviders>> | undefined;
  const social = () => {
    socialOpened ??= import('./social.ts').then((room) =>
      room.openSocialProviders(config.social, tenantRoots, limits),
    );
    return socialOpened;
  };
  const toNetwork = (what: string) => {
    assertIdle(what);
    return network();
  };
  const toSocial = (what: string) => {
    assertIdle(what);
    return social();
  };
  let samlOpened: Promise<Saml> | undefined;
  const saml = () => {
    samlOpened ??= import('./saml/open.ts').then(({ openSaml }) =>
      openSaml(() => toNetwork("a look at a provider's metadata")),
    );
    return samlOpened;
  };
  const toMail = (what: string) => {
    assertIdle(what);
    return import('./mail.ts');
  };
  return {
    lookupTxt: async (domain) => (await toNetwork('a DNS lookup')).lookupTxt(domain),
    authorizationUrl: async (...given) =>
      (await toNetwork('the discovery of an identity provider')).authorizationUrl(...given),
    redeem: async (...given) =>
      (await toNetwork('a sign-in at an identity provider')).redeem(...given),
    saml: {
      readMetadata: async (xml) => (await saml()).readMetadata(xml),
      fetchMetadata: async (url) => (await saml()).fetchMetadata(url),
      ourMetadata: async (we) => (await saml()).ourMetadata(we),
      request: async (...given) => (await saml()).request(...given),
      inResponseTo: async (response) => (await saml()).inResponseTo(response),
      verify: async (...given) => (await saml()).verify(...given),
    },
    socialUrl: async (...given) =>
      (await toSocial('the discovery of a social provider')).socialUrl(...given),
    redeemSocial: async (...given) =>
      (await toSocial('a sign-in at a social provider')).redeemSocial(...given),
    examineProvider: async (...given) =>
      (await toNetwork('an examination of an identity provider')).examineProvider(...given),
    examineAddress: async (asked) =>
      (await toNetwork('a look at an address')).examineAddress(asked),
    judgeUrl: async (url) => (await toNetwork('a look at a URL')).judgeUrl(url),
    postMessage: async (...given) => (await toNetwork('a webhook')).postMessage(...given),
    sendMail: async (message, stop) =>
      (await toMail('sending mail')).sendMail(mailServer(), message, limits, stop),
    greetMailServer: async () =>
      (await toMail('a visit to the mail server')).greetMailServer(mailServer(), limits),
    async directoryClient(server) {
      const [{ createGuard }, { directoryClient }] = await Promise.all([
        import('./guard.ts'),
        import('./directory/client.ts'),
      ]);
      const guard = createGuard(allow);
      const plaintext = config.ldap.allowPlaintext === 'on';
      return directoryClient(server, { guard, roots: tenantRoots, limits, plaintext, assertIdle });
    },
    async reach(url) {
      assertIdle('a look at an address of this instance');
      const { reach } = await import('./http.ts');
      return reach(url, url === config.doh.resolverUrl ? resolverRoots : tenantRoots, limits);
    },
    async close() {
      await (await opened)?.close();
      await (await socialOpened)?.close();
    },
  };
}

/** The part of `Outbound` that shares two clients. */
type Network = Omit<
  Outbound,
  | 'directoryClient'
  | 'sendMail'
  | 'greetMailServer'
  | 'reach'
  | 'saml'
  | 'socialUrl'
  | 'redeemSocial'
> &
  Pick<HttpClient, 'fetch'>;

// This loads the modules when they are first used. They take 170 ms to load, and most commands
// never use the network.
async function openNetwork(
  allow: AllowList,
  tenantRoots: SecureContext | undefined,
  resolverRoots: SecureContext | undefined,
  resolverUrl: string,
  limits: Limits,
): Promise<Network> {
  const [
    { createGuard, wayOf },
    { guardedClient, trustedClient },
    { createResolver },
    { createProviders },
    { createExaminer },
    { examineAddress },
  ] = await Promise.all([
    import('./guard.ts'),
    import('./http.ts'),
    import('./doh.ts'),
    import('./oidc.ts'),
    import('./examine/examine.ts'),
    import('./examine/place.ts'),
  ]);
  const guard = createGuard(allow);
  const guarded = guardedClient(guard, tenantRoots, limits);
  const trusted = trustedClient(resolverRoots, limits);
  return {
    fetch: guarded.fetch,
    lookupTxt: createResolver(trusted.fetch, resolverUrl),
    ...createProviders(guarded.fetch, limits.total),
    examineProvider: createExaminer(guarded, guard, limits.total),
    examineAddress: (asked) => examineAddress(guard, guarded.handshake, asked),
    async judgeUrl(text) {
      const url = new URL(text);
      guard.checkUrl(url);
      if (url.protocol !== 'http:') return;
      // Ignores a name that cannot be resolved: it is checked again when it is used.
      await guard.resolve(url.hostname, wayOf(url)).catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
      });
    },
    async postMessage(url, message) {
      const options = { ...message, method: 'POST', redirects: 'show', answer: 'status' } as const;
      return (await guarded.fetch(url, options)).status;
    },
    async close() {
      await Promise.all([guarded.close(), trusted.close()]);
    },
  };
}

function mailServerOf({ mail, instance, baseUrl }: Config, roots: SecureContext | undefined) {
  if (mail.smtpUrl === undefined)
    throw new Refusal('mail_not_configured', 'mail.smtpUrl is not set.');
  const address = mail.from ?? `idctl@${new URL(baseUrl).hostname}`;
  const from = address.includes('<') ? address : { name: instance.name, address };
  return { url: mail.smtpUrl, from, roots };
}

function allowFault(entry: string): Refusal {
  const message = `outbound.allow: ${entry} is not a host name, address or range`;
  return new Refusal('config_invalid', message, {
    hint: 'Valid entries look like idp.internal, idp.internal:8443, 10.1.2.3, [fd00::5]:8443 or 10.0.0.0/8.',
  });
}
