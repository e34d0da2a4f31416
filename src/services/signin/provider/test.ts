import type { AccountClaims } from 'oidc-provider';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Client } from '../../../database/models/client.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import {
  type Finding,
  found,
  outcomeOf,
  right,
  skipped,
  type Take,
  takingSteps,
  wrong,
} from '../../../finding.ts';
import type { Next } from '../../../next.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { email, testSteps } from '../../foundation/fields.ts';
import { isRsa, listSigningKeys } from '../../foundation/keys/signing-key.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { operation } from '../../foundation/operation.ts';
import { after } from '../../foundation/time.ts';
import { viewMetadata } from '../../people/apps/metadata.ts';
import { type Barred, barredFrom } from '../../tenancy/clients/admits.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { isOwnMachine } from '../../tenancy/clients/fields.ts';
import { showClient } from '../../tenancy/clients/operations.ts';
import { requireClientOf } from '../../tenancy/clients/write.ts';
import { findMember } from '../../tenancy/memberships/memberships.sql.ts';
import { readPerson } from './claims.sql.ts';
import { claimsByScope, claimsOf } from './claims.ts';

/**
 * Tests a client step by step: what its application would find, and the whole sign-in of a person,
 * which is rolled back.
 */
export const testClient = operation({
  authority: 'clients.test',
  turn: 'network',
  input: showClient.input.extend({
    user: email.optional().describe('A member whose sign-in is tried and rolled back.'),
  }),
  output: z.object({
    ok: z.boolean(),
    message: z.string(),
    steps: testSteps,
    claims: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'The claims of the person’s ID token with every scope. A session adds sid, acr, amr and auth_time.',
      ),
  }),
  hints: true,
  run: async (ctx, input, standing) => {
    const client = await requireClientOf(standing.organization, input.client);
    await requireTurn(ctx, standing.organization);
    const { steps, take } = takingSteps(async (look) => look());
    await examineInstance(ctx, client, take);
    await examineAddresses(ctx, client, take);
    await take('client secret', 'a secret that is accepted, unless the client is public', () =>
      examineSecret(standing.organization, client),
    );
    const signedIn = await take('sign-in', 'the person can use the application', () =>
      input.user === undefined
        ? skipped('no person was named', { technical: 'To try a member, add --user EMAIL.' })
        : trySignIn(ctx, client, standing, input.user),
    );
    const claims = signedIn.ok ? signedIn.value : null;
    if (claims !== null && client.suspendedAt === null && client.redirectUris.length > 0) {
      // Loads the package `oidc-provider`, which an instance without clients never needs.
      const { rehearseSignIn } = await import('./rehearsal.ts');
      await rehearseSignIn(ctx, client, claims.sub, take);
    }
    const passed = `No check failed. Now sign in to ${client.name} with a browser.`;
    return { ...outcomeOf(steps, passed), claims };
  },
});

/** Limits the tests, because a test connects to addresses that the organization chooses. */
async function requireTurn(ctx: Context, { id }: Organization): Promise<void> {
  if (ctx.actor.kind === 'operator') return;
  const limit = { name: 'client test', of: id, max: 20, seconds: 600 };
  await transaction(() => requirePlace(ctx, limit, 'Too many tests: at most 20 in ten minutes.'));
}

/** Checks the documents that an application reads before a sign-in. */
async function examineInstance(ctx: Context, client: Client, take: Take): Promise<void> {
  const ours = await viewMetadata(ctx, {});
  const url = `${ctx.config.baseUrl}/.well-known/openid-configuration`;
  await take('discovery', `${url} names this issuer and its endpoints`, async () => {
    const document = await readAt(ctx, url, z.record(z.string(), z.unknown()));
    if (!document.ok) return document;
    const { issuer, jwks_uri, authorization_endpoint, token_endpoint, userinfo_endpoint } = ours;
    const needed = { issuer, jwks_uri, authorization_endpoint, token_endpoint, userinfo_endpoint };
    const others = Object.entries(needed).filter(([name, is]) => document.value[name] !== is);
    if (others.length === 0) return right(issuer);
    const names = others.map(([name]) => name).join(', ');
    return wrong(`it differs in ${names}`, 'Point the proxy for the base URL to this daemon.');
  });
  const alg = client.idTokenAlg;
  await take('keys', `${ours.jwks_uri} has a key for ${alg}`, async () => {
    const published = await readAt(ctx, ours.jwks_uri, keySet);
    if (!published.ok) return published;
    if (published.value.keys.some((key) => key.alg === alg)) return right(`a key for ${alg}`);
    const rsa = (await listSigningKeys()).find(({ publicJwk }) => isRsa(publicJwk));
    // Other daemons publish a new key after some seconds.
    if (alg === 'RS256' && rsa !== undefined && after(rsa.createdAt, 10) > ctx.now)
      return skipped('the key was created a few seconds ago');
    return wrong(`no key for ${alg}`, [
      'Restart the daemon.',
      { say: 'Then run', operation: 'key.list' },
    ]);
  });
}

const keySet = z.object({ keys: z.array(z.object({ alg: z.string().optional() })) });

/** Reads a document of this instance as an application would. */
async function readAt<T>(ctx: Context, url: string, schema: z.ZodType<T>): Promise<Finding<T>> {
  const hint = 'Start the daemon, and check that this machine reaches the base URL.';
  try {
    const { status, body } = await ctx.outbound.reach(url);
    if (status !== 200) return wrong(`it answers HTTP ${status}`, hint);
    const { data } = schema.safeParse(JSON.parse(body));
    return data === undefined
      ? wrong('it returns a different document', hint)
      : found(data, 'read');
  } catch (error) {
    if (error instanceof SyntaxError) return wrong('it returns a different document', hint);
    if (error instanceof Refusal)
      return wrong(`this machine cannot read it: ${error.message}`, hint);
    throw error;
  }
}

/** Checks the addresses that browsers are sent to, and the address for back-channel logout. */
async function examineAddresses(ctx: Context, client: Client, take: Take): Promise<void> {
  const addresses = [
    ...client.redirectUris.map((uri) => ['redirect URI', uri] as const),
    ...client.postLogoutRedirectUris.map((uri) => ['after sign-out', uri] as const),
    ...(client.origins ?? []).map(({ origin }) => ['forward auth', origin] as const),
  ];
  const origins = new Set(addresses.map(([, uri]) => new URL(uri).origin));
  // All hosts are checked in parallel, so that a slow host does not delay the others.
  const looks = [...origins].map(
    async (origin) => [origin, await examineAddress(ctx, new URL(origin))] as const,
  );
  const seen = new Map(await Promise.all(looks));
  for (const [what, uri] of addresses)
    await take(
      `${what} ${uri}`,
      'its host can be found',
      () => seen.get(new URL(uri).origin) ?? skipped('no address'),
    );
  const { backchannelLogoutUri: uri } = client;
  await take('back-channel logout', 'idctl may send to it', () =>
    uri === null
      ? skipped('the client has none')
      : ctx.outbound.examineAddress({ url: new URL(uri), now: ctx.now, isOurs: true }),
  );
}

function examineAddress({ outbound, now }: Context, url: URL): Finding | Promise<Finding> {
  if (isOwnMachine(url.hostname)) return right("the person's own machine");
  return outbound.examineAddress({ url, now, isOurs: false });
}

function examineSecret({ slug }: Organization, client: Client): Finding {
  if (client.redirectUris.length === 0) return right('none: only forward auth uses the client');
  if (client.secretHash === null) return right('none: the client is public');
  if (client.suspendedAt === null) return right('stored');
  return wrong('refused, because a backup was restored', {
    say: 'Create a new one',
    operation: 'client.rotate',
    with: { client: clientIdOf(client), org: slug },
  });
}

/** Checks whether the person may use the client, and shows the claims of the ID token. */
async function trySignIn(
  ctx: Context,
  client: Client,
  { organization }: Standing,
  user: string,
): Promise<Finding<AccountClaims | null>> {
  const refuse = (barred: Barred) =>
    wrong(`${user}: ${refusals[barred]}`, mend(organization, client, user, barred));
  const member = await findMember(ctx, organization.id, user);
  if (member === null) return refuse('not_a_member');
  // Security O8: a pushed membership does not reveal anything about the account.
  if (member.pushed)
    return wrong(
      'access_denied, as provisioning added the address, and its domain is not verified',
      'Verify the domain, or name another member.',
    );
  const barred = await barredFrom(ctx, client, member.id);
  if (barred !== null) return refuse(barred);
  const scopes = Object.keys(claimsByScope).join(' ');
  const person = await readPerson(ctx, client.organizationId, member.id);
  const { sid: _, ...claims } = await claimsOf(person, member.id, '', scopes);
  return found(claims, `${user} can use the application`);
}

const refusals: Record<Barred, string> = {
  not_a_member: 'access_denied, as no member of the organization has this address',
  account_disabled: 'access_denied, as the account is disabled',
  project_role_missing: 'access_denied, as the person lacks the role in the project',
};

/** The operation after which the person can use the client. */
function mend({ slug: org }: Organization, client: Client, user: string, barred: Barred): Next {
  if (barred === 'account_disabled')
    return { say: 'The operator can enable it', operation: 'user.enable', with: { user } };
  const to = 'let the person in';
  if (barred === 'not_a_member')
    return { to, operation: 'member.add', with: { email: user, org, role: 'member' } };
  const project = client.project?.slug;
  const role = client.role ?? undefined;
  return { to, operation: 'project-member.add', with: { user, org, project, role } };
}
