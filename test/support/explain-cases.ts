import fc from 'fast-check';
import { newTotpSecret } from '../../src/crypto/totp.ts';
import { Account, emailProofs } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { Tombstone } from '../../src/database/models/tombstone.ts';
import { transaction } from '../../src/database/transaction.ts';
import {
  entryLimit,
  nameLimit,
  refusedBindLimit,
} from '../../src/services/foundation/limits/ldap.ts';
import { countUp, type Limit } from '../../src/services/foundation/limits/limit.ts';
import { mailboxLimits } from '../../src/services/foundation/limits/mail.ts';
import { codeLimit, rememberClient } from '../../src/services/foundation/limits/password.ts';
import { sealTotpSecret } from '../../src/services/people/two-factor/second-factor.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { fresh, organization, password, verifiedDomain } from './builders.ts';
import { entryUuidOf, type Site } from './explain-site.ts';
import { settingsFor } from './ldap.ts';
import { registration } from './sso.ts';

/** The ways to sign in, as `explain` names them. */
const methods = ['password', 'magicCode', 'sso', 'ldap', 'google', 'github'] as const;

/** A boolean that is true `times` times in ten. */
const often = (times: number) => fc.integer({ min: 1, max: 10 }).map((at) => at <= times);
const choice = fc.option(fc.boolean(), { nil: undefined });
const connection = fc.constantFrom('none', 'off', 'on', 'on', 'on');
const limits = ['password', 'secondFactor', 'mail', 'ldapName', 'ldapEntry', 'ldapBind'] as const;

/** A person, an organization and an instance, in any state that a sign-in checks. */
export const cases = fc.record({
  instance: fc.record({ mail: often(8), google: often(8), github: often(8), trustOff: often(1) }),
  settings: fc.record({
    password: choice,
    magicCode: fc.constantFrom(true, true, false, undefined),
    google: choice,
    github: choice,
    restrictOauthToVerifiedDomains: fc.constantFrom(true, false, undefined),
  }),
  /** The organization that has verified the domain of the address. */
  domain: fc.constantFrom('own', 'own', 'own', 'own', 'rival', 'none'),
  sso: connection,
  ownSecondFactor: often(3),
  ldap: connection,
  /** Whether an owner has approved both connections. */
  approved: often(8),
  account: fc.option(
    fc.record({
      emailProof: fc.constantFrom(...emailProofs),
      awaitsCode: often(3),
      password: often(7),
      disabled: often(1),
      secondFactor: often(3),
    }),
    { freq: 6 },
  ),
  place: fc.constantFrom('member', 'member', 'member', 'none', 'removed'),
  elsewhere: often(2),
  /** Whether a member is an owner. */
  owner: often(3),
  ssoKey: fc.constantFrom('none', 'none', 'own', 'former', 'other former', 'own of another issuer'),
  ldapKey: fc.constantFrom('none', 'none', 'own', 'former', 'own of another server'),
  googleKey: fc.constantFrom('none', 'none', 'own', 'of another issuer'),
  githubKey: fc.constantFrom('none', 'none', 'own', 'of another issuer'),
  /** Whether the account has signed in from this network before. */
  known: often(3),
  full: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...limits], { minLength: 1, maxLength: 2 }) },
  ),
  order: fc.shuffledSubarray([...methods], { minLength: methods.length }),
});

export type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

const good = {
  emailProof: 'operator' as const,
  awaitsCode: false,
  password: true,
  disabled: false,
  secondFactor: false,
};

/** Every method is on, and no rule refuses the person. */
const open: Case = {
  instance: { mail: true, google: true, github: true, trustOff: false },
  settings: {
    password: true,
    magicCode: true,
    google: true,
    github: true,
    restrictOauthToVerifiedDomains: false,
  },
  domain: 'own',
  sso: 'on',
  ownSecondFactor: false,
  ldap: 'on',
  approved: true,
  account: good,
  place: 'member',
  elsewhere: false,
  owner: false,
  ssoKey: 'none',
  ldapKey: 'none',
  googleKey: 'none',
  githubKey: 'none',
  known: false,
  full: [],
  order: ['sso', 'ldap', 'google', 'github', 'password', 'magicCode'],
};

const late: Case['order'] = ['password', 'google', 'ldap', 'magicCode', 'github', 'sso'];

/** Cases with few obstacles, so that each rule decides alone in one of them. */
export const obstacles: Case[] = [
  open,
  { ...open, account: null },
  { ...open, account: { ...good, emailProof: 'none', awaitsCode: true } },
  { ...open, account: { ...good, emailProof: 'none', awaitsCode: true }, order: late },
  { ...open, account: { ...good, emailProof: 'auto' }, order: late },
  { ...open, account: { ...good, emailProof: 'former domain' }, order: late },
  { ...open, account: { ...good, disabled: true } },
  { ...open, account: { ...good, password: false }, place: 'removed' },
  { ...open, account: { ...good, secondFactor: true }, elsewhere: true, full: ['secondFactor'] },
  { ...open, ssoKey: 'own of another issuer', ldapKey: 'own of another server' },
  { ...open, ssoKey: 'other former', ldapKey: 'former', googleKey: 'of another issuer' },
  { ...open, approved: false },
  { ...open, approved: false, owner: true, ssoKey: 'own', ldapKey: 'own' },
  { ...open, approved: false, account: { ...good, secondFactor: true } },
  { ...open, owner: true, account: { ...good, secondFactor: true } },
  { ...open, domain: 'none' },
  { ...open, settings: { ...open.settings, password: false, magicCode: false, google: false } },
  {
    ...open,
    domain: 'rival',
    settings: { ...open.settings, restrictOauthToVerifiedDomains: true },
  },
  { ...open, full: ['password'] },
  { ...open, known: true, full: ['password', 'mail'] },
  { ...open, ldapKey: 'own', full: ['ldapEntry'] },
  { ...open, full: ['ldapName'] },
  { ...open, full: ['ldapBind'] },
];

/** A case that is set up on the site. */
export type Staged = Awaited<ReturnType<typeof stage>>;

/** Sets the case up on the site, with a new organization and a new address. */
export async function stage(site: Site, given: Case) {
  const { idctl, slapd } = site;
  site.set(given.instance);
  const operator = idctl.operator();
  const org = await organization(idctl);
  const rival = await organization(idctl);
  const holder = given.domain === 'rival' ? rival : org;
  const name = `${fresh('d')}.test`;
  const domain = given.domain === 'none' ? name : await verifiedDomain(idctl, holder.slug, name);
  await saveSignInSettings(operator, { org: holder.slug, ...given.settings });
  const email = `ada@${domain}`;
  const uid = fresh('uid');
  await slapd.person(uid, { mail: email });
  const entry = await entryUuidOf(slapd, uid);
  const sub = fresh('sub');
  const gitHubId = site.nextGitHubId();
  const sso = given.sso === 'none' ? null : await makeSso(site, given, holder.slug, domain);
  const ldap = given.ldap === 'none' ? null : await makeLdap(site, given, holder.slug);
  const secret = newTotpSecret();
  const network = `2001:db8:${(gitHubId >> 8).toString(16)}:${(gitHubId & 255).toString(16)}::1`;
  const account = await makeAccount(site, given, email, secret);
  if (account !== null) {
    const keys = keysOf(site, given, { sub, entry, gitHubId, sso, ldap, account });
    await transaction(() => Identity.bulkCreate(keys));
    await join(given, account.id, org.id, rival.id);
    if (given.known) await remember(site, account, network);
  }
  const linked = lastingly(given) && ['own', 'former'].includes(given.ldapKey);
  const places = { email, entry: linked ? entry : null, account, ldap };
  for (const name of given.full) await fill(site, limitsOf(site, name, places), name, email);
  const named = given.domain === 'none' ? { org: org.slug } : {};
  return { org, domain, email, network, sub, gitHubId, secret, account, named };
}

async function makeSso({ idctl, issuer }: Site, given: Case, org: string, emailDomain: string) {
  const input = {
    org,
    emailDomain,
    issuer,
    ...registration,
    requireLocalTwoFactor: given.ownSecondFactor,
  };
  await saveSso(idctl.operator(), saveSsoInput.parse(input));
  const row = await SsoConnection.findOne({ where: { emailDomain }, rejectOnEmpty: true });
  // Enabled even without a verified domain, which the organization may have removed since.
  await transaction(() => row.update({ enabled: given.sso === 'on', approved: given.approved }));
  return row;
}

async function makeLdap({ idctl, slapd }: Site, given: Case, org: string) {
  const input = { org, ...settingsFor(slapd), searchFilter: '(mail={username})' };
  await saveLdap(idctl.operator(), saveLdapInput.parse(input));
  const row = await LdapConnection.findOne({ order: [['id', 'DESC']], rejectOnEmpty: true });
  await transaction(() => row.update({ enabled: given.ldap === 'on', approved: given.approved }));
  return row;
}

async function makeAccount({ idctl, hash }: Site, given: Case, email: string, secret: string) {
  if (given.account === null) return null;
  const { emailProof, awaitsCode, password, disabled, secondFactor } = given.account;
  const [id, now] = [crypto.randomUUID(), idctl.operator().now];
  const totp = {
    totpSecret: sealTotpSecret(idctl.operator(), id, secret),
    totpStartedAt: now,
    totpEnabledAt: now,
  };
  return transaction(() =>
    Account.create({
      id,
      email,
      emailProof,
      awaitsCode: emailProof === 'none' && awaitsCode,
      name: 'Ada Byron',
      passwordHash: password ? hash : null,
      disabledAt: disabled ? now : null,
      createdAt: now,
      ...(secondFactor ? totp : {}),
    }),
  );
}

interface Named {
  sub: string;
  entry: string;
  gitHubId: number;
  sso: SsoConnection | null;
  ldap: LdapConnection | null;
  account: Account;
}

function keysOf({ issuer, google, github }: Site, given: Case, named: Named) {
  const { sub, entry, gitHubId, sso, ldap, account } = named;
  const row = () => ({ id: crypto.randomUUID(), accountId: account.id, linkedAt: new Date() });
  const removed = () => crypto.randomUUID();
  const bySso = {
    none: null,
    own: { connectionId: sso?.id, issuer },
    former: { connectionId: removed(), issuer },
    'other former': { connectionId: removed(), issuer: 'https://old.test' },
    'own of another issuer': { connectionId: sso?.id, issuer: 'https://old.test' },
  }[given.ssoKey];
  const byLdap = {
    none: null,
    own: { connectionId: ldap?.id, server: '127.0.0.1' },
    former: { connectionId: removed(), server: '127.0.0.1' },
    'own of another server': { connectionId: ldap?.id, server: 'old.test' },
  }[given.ldapKey];
  const social = (provider: 'google' | 'github', key: string, issuer: string, subject: string) => ({
    ...row(),
    kind: 'social' as const,
    connectionId: provider,
    organizationId: null,
    issuer: key === 'own' ? issuer : 'https://old.test',
    subject,
  });
  return [
    ...(sso === null || bySso === null
      ? []
      : [
          {
            ...row(),
            kind: 'sso' as const,
            organizationId: sso.organizationId,
            subject: sub,
            issuer: bySso.issuer,
            connectionId: bySso.connectionId ?? removed(),
          },
        ]),
    ...(ldap === null || byLdap === null
      ? []
      : [
          {
            ...row(),
            kind: 'ldap' as const,
            organizationId: ldap.organizationId,
            issuer: 'entryUUID',
            subject: entry,
            server: byLdap.server,
            connectionId: byLdap.connectionId ?? removed(),
          },
        ]),
    ...(given.googleKey === 'none' ? [] : [social('google', given.googleKey, google.issuer, sub)]),
    ...(given.githubKey === 'none'
      ? []
      : [social('github', given.githubKey, github.baseUrl, String(gitHubId))]),
  ];
}

async function join(
  { place, elsewhere, owner }: Case,
  accountId: string,
  own: string,
  rival: string,
) {
  const member = (organizationId: string) => ({
    organizationId,
    accountId,
    role: 'member' as const,
    origin: { kind: 'operator' as const },
    joinedAt: new Date(),
  });
  await transaction(async () => {
    const role = owner ? 'owner' : 'member';
    if (place === 'member') await Membership.create({ ...member(own), role });
    if (place === 'removed')
      await Tombstone.create({ organizationId: own, accountId, setAt: new Date() });
    if (elsewhere) await Membership.create(member(rival));
  });
}

/** Records an earlier sign-in of the account from this network, with its ended session. */
async function remember({ idctl }: Site, { id, email }: Account, network: string) {
  const now = idctl.operator().now;
  const ctx = { ...idctl.operator(), client: { address: network, userAgent: null } };
  await transaction(async () => {
    await rememberClient(ctx, email ?? '');
    await Session.create({
      id: crypto.randomUUID(),
      accountId: id,
      method: 'password',
      connectionId: null,
      organizationId: null,
      address: network,
      userAgent: null,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: now,
      endedAt: now,
    });
  });
}

/** Whether the account's address is proved, so that no sign-in removes its identities. */
function lastingly({ account }: Case): boolean {
  return account !== null && ['mail', 'domain', 'operator', 'social'].includes(account.emailProof);
}

interface Places {
  email: string;
  /** Null if idctl cannot know the entry before the person signs in. */
  entry: string | null;
  account: Account | null;
  ldap: LdapConnection | null;
}

function limitsOf({ idctl }: Site, name: (typeof limits)[number], places: Places): Limit[] {
  const { email, entry, account, ldap } = places;
  const ctx = idctl.operator();
  switch (name) {
    case 'password':
      return [];
    case 'secondFactor':
      return account === null ? [] : [codeLimit(account.id)];
    case 'mail':
      return Object.values(mailboxLimits(ctx, email));
    case 'ldapName':
      return [nameLimit(ctx, email, ldap?.organizationId ?? null)];
    case 'ldapBind':
      return ldap === null
        ? []
        : [refusedBindLimit(ctx, { of: ldap.id, apart: ldap.bindPassword })];
    case 'ldapEntry':
      return ldap === null || entry === null
        ? []
        : [entryLimit(ctx, { issuer: 'entryUUID', subject: entry }, ldap.organizationId)];
  }
}

/** Uses the limits up. For the password limit, it sends wrong passwords from another network. */
async function fill({ idctl }: Site, full: Limit[], name: string, email: string): Promise<void> {
  const ctx = idctl.operator();
  await transaction(async () => {
    for (const limit of full)
      for (let used = 0; used < limit.max; used += 1) await countUp(ctx, limit);
  });
  if (name !== 'password') return;
  const from = { 'x-forwarded-for': '2001:db8:ffff::1' };
  for (let used = 0; used < ctx.config.limits.accountFailures; used += 1)
    await idctl.client().post('/api/v1/auth/login', { email, password: `${password} not` }, from);
}
