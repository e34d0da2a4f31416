import { Client as LdapClient } from 'ldapts';
import { generateSync } from 'otplib';
import { password } from './builders.ts';
import type { Staged } from './explain-cases.ts';
import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';
import { type MailingIdctl, openMailingIdctl } from './mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts';
import { directoryPassword, type Slapd, service, startSlapd, suffix } from './slapd.ts';
import { type GitHub, openSocial } from './social.ts';
import { registration } from './sso.ts';

/** An instance with every kind of counterpart, and limits that a test can use up. */
export interface Site {
  idctl: MailingIdctl;
  google: OpenIdProvider;
  github: GitHub;
  provider: OpenIdProvider;
  slapd: Slapd;
  /** The issuer of `provider`, which the connections use. */
  issuer: string;
  /** A hash of the builders' password. */
  hash: string;
  /** Changes the instance's configuration, as after a restart. */
  set(wanted: { mail: boolean; google: boolean; github: boolean; trustOff: boolean }): void;
  nextGitHubId(): number;
  close(): Promise<void>;
}

/** Opens the site. */
export async function openSite(): Promise<Site> {
  const slapd = await startSlapd();
  const social = await openSocial(openMailingIdctl, {
    outbound: { allow: ['127.0.0.1'] },
    http: { trustedProxies: ['127.0.0.1'] },
    limits: { accountFailures: 3, ldapFailures: 3, codeSends: 4, addressFailures: 100_000 },
  });
  const { idctl, google, github } = social;
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = ['https://id.example.test/auth/sso/callback'];
  const provider = await startOpenIdProvider({
    clients: [{ client_id, client_secret, redirect_uris }],
  });
  const { config } = idctl.app;
  let lastGitHubId = 0;
  return {
    idctl,
    google,
    github,
    provider,
    slapd,
    issuer: provider.issuer,
    hash: await idctl.app.passwords.hash(password),
    set: ({ mail, trustOff, ...providers }) => {
      const unset = { clientId: undefined, clientSecret: undefined };
      idctl.app.config = {
        ...config,
        trust: { ...config.trust, domains: trustOff ? 'off' : 'enforce' },
        mail: mail ? config.mail : { ...config.mail, smtpUrl: undefined },
        social: {
          google: { ...config.social.google, ...(providers.google ? {} : unset) },
          github: { ...config.social.github, ...(providers.github ? {} : unset) },
        },
      };
    },
    nextGitHubId: () => ++lastGitHubId,
    close: async () => {
      await social.close();
      await provider.stop();
      await slapd.stop();
    },
  };
}

/** Reads the UUID of an entry, in the form that idctl stores. */
export async function entryUuidOf({ ldap }: Slapd, uid: string): Promise<string> {
  const client = new LdapClient({ url: ldap });
  await client.bind(service.bindDn, service.bindPassword);
  const { searchEntries } = await client.search(`uid=${uid},ou=people,${suffix}`, {
    scope: 'base',
    attributes: ['entryUUID'],
  });
  await client.unbind();
  return String(searchEntries[0]?.['entryUUID']).toLowerCase();
}

/** For each method, signs in with everything right and returns the answer to the last step. */
export const signInBy: Record<string, (site: Site, person: Staged) => Promise<Answer>> = {
  password: ({ idctl }, { email, network, secret }) =>
    clientOf(idctl, network).post('/api/v1/auth/login', {
      email,
      password,
      totpCode: codeOf(idctl, secret),
    }),
  magicCode: async ({ idctl }, { email, network, secret }) => {
    const client = clientOf(idctl, network);
    await client.post('/api/v1/auth/magic-code', { email });
    const mailed = await idctl.codeFor(email);
    const code = mailed === 'none' ? '000000' : mailed;
    const totpCode = codeOf(idctl, secret);
    return client.post('/api/v1/auth/magic-code/verify', { email, code, totpCode });
  },
  sso: (site, { email, domain, sub, ...person }) => {
    site.provider.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
    const signIn = (url: string) => site.provider.signIn(url, sub);
    return byRedirect(site.idctl, person, `/auth/sso/start?domain=${domain}`, signIn);
  },
  ldap: ({ idctl }, { email, network, secret, named }) =>
    clientOf(idctl, network).post('/auth/ldap/login', {
      ...named,
      username: email,
      password: directoryPassword,
      totpCode: codeOf(idctl, secret),
    }),
  google: (site, { email, sub, ...person }) => {
    site.google.people.set(sub, { email, email_verified: true });
    const signIn = (url: string) => site.google.signIn(url, sub);
    return byRedirect(site.idctl, person, '/auth/social/google/start', signIn);
  },
  github: (site, { email, gitHubId, ...person }) => {
    const emails = [{ email, primary: true, verified: true }];
    site.github.people.set(gitHubId, { login: 'ada', emails });
    const signIn = async (url: string) => site.github.signIn(url, gitHubId);
    return byRedirect(site.idctl, person, '/auth/social/github/start', signIn);
  },
};

async function byRedirect(
  idctl: Idctl,
  { network, secret }: Pick<Staged, 'network' | 'secret'>,
  start: string,
  signIn: (url: string) => Promise<string>,
): Promise<Answer> {
  const client = clientOf(idctl, network);
  const started = await client.get(start);
  if (started.status !== 200) return started;
  const { pathname, search } = new URL(await signIn(started.body.authorizationUrl));
  const back = await client.get(pathname + search);
  if (back.body.code !== 'second_factor_required') return back;
  return client.post('/api/v1/auth/second-factor', { totpCode: codeOf(idctl, secret) });
}

function clientOf({ client }: Idctl, network: string): Client {
  return client({ keepCookies: true, headers: { 'x-forwarded-for': network } });
}

function codeOf({ app }: Idctl, secret: string): string {
  return generateSync({ secret, epoch: Math.floor(app.clock().getTime() / 1000) });
}
