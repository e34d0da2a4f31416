import type { AccountClaims } from 'oidc-provider';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Client } from '../../../database/models/client.ts';
import type { Organization } from '../../../database/models/organization.ts';
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
import { shellWord } from '../../../shell-word.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { email, testSteps } from '../../foundation/fields.ts';
import { isRsa, listSigningKeys } from '../../foundation/keys/signing-key.ts';
import { operation } from '../../foundation/operation.ts';
import { viewMetadata } from '../../people/apps/metadata.ts';
import { type Barred, barredFrom } from '../../tenancy/clients/admits.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { isOwnMachine } from '../../tenancy/clients/fields.ts';
import { showClient } from '../../tenancy/clients/operations.ts';
import { requireClientOf } from '../../tenancy/clients/write.ts';
import { findMember } from '../../tenancy/memberships/membership.ts';
import { claimsByScope, claimsOf } from './claims.ts';

/**
 * Tests a client step by step: what its application would find, and what a person's ID token would
 * say. Writes nothing, and starts no session.
 */
export const testClient = operation({
  authority: 'clients.test',
  input: showClient.input.extend({
    user: email.optional().describe('A member to try; without it, no sign-in is tried.'),
  }),
  output: z.object({
    ok: z.boolean(),
    message: z.string(),
    steps: testSteps,
    claims: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'What the ID token of the person would say with every scope. A session adds sid, acr, amr and auth_time.',
      ),
  }),
  run: async (ctx, input, standing) => {
    const client = await requireClientOf(standing.organization, input.client);
    const { steps, take } = takingSteps(async (look) => look());
    await examineInstance(ctx, client, take);
    await examineAddresses(ctx, client, take);
    await take('client secret', 'a secret that is accepted, unless it is public', () =>
      examineSecret(standing.organization, client),
    );
    const signedIn = await take('sign-in', 'the person gets in', () =>
      input.user === undefined
        ? skipped('no person was named', 'To try a member, add --user EMAIL.')
        : trySignIn(ctx, client, standing, input.user),
    );
    const passed = `No check failed. Now sign in to ${client.name} with a browser.`;
    return { ...outcomeOf(steps, passed), claims: signedIn.ok ? signedIn.value : null };
  },
});

/** What the application reads of idctl before any sign-in. */
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
    return wrong(`it has another ${names}`, 'Have the proxy pass the base URL to this daemon.');
  });
  const alg = client.idTokenAlg;
  await take('keys', `${ours.jwks_uri} has a key for ${alg}`, async () => {
    const published = await readAt(ctx, ours.jwks_uri, keySet);
    if (!published.ok) return published;
    if (published.value.keys.some((key) => key.alg === alg)) return right(`a key for ${alg}`);
    if (alg === 'RS256' && !(await hasRsaKey()))
      return skipped('the first sign-in of an application makes the key');
    return wrong(`no key for ${alg}`, 'Restart the daemon; then look at: idctl key list');
  });
}

async function hasRsaKey(): Promise<boolean> {
  return (await listSigningKeys()).some(({ publicJwk }) => isRsa(publicJwk));
}

const keySet = z.object({ keys: z.array(z.object({ alg: z.string().optional() })) });

/** Reads a document of this instance as an application would. */
async function readAt<T>(ctx: Context, url: string, schema: z.ZodType<T>): Promise<Finding<T>> {
  const hint = 'Start the daemon, and check that this machine reaches the base URL.';
  try {
    const { status, body } = await ctx.outbound.reach(url);
    if (status !== 200) return wrong(`it answers HTTP ${status}`, hint);
    const { data } = schema.safeParse(JSON.parse(body));
    return data === undefined ? wrong('it answers another document', hint) : found(data, 'read');
  } catch (error) {
    if (error instanceof SyntaxError) return wrong('it answers no JSON', hint);
    if (error instanceof Refusal)
      return wrong(`this machine cannot read it: ${error.message}`, hint);
    throw error;
  }
}

/** Where browsers are sent, and where idctl itself tells of ended sessions. */
async function examineAddresses(ctx: Context, client: Client, take: Take): Promise<void> {
  const addresses = [
    ...client.redirectUris.map((uri) => ['redirect URI', uri] as const),
    ...client.postLogoutRedirectUris.map((uri) => ['after sign-out', uri] as const),
  ];
  const origins = new Set(addresses.map(([, uri]) => new URL(uri).origin));
  // All at once: one slow host does not hold up the others.
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
  if (client.secretHash === null) return right('none: the client is public');
  if (client.suspendedAt === null) return right('stored');
  const command = `idctl client rotate ${shellWord(clientIdOf(client))} --org ${shellWord(slug)}`;
  return wrong('refused, because it came out of a backup', `Give it another one: ${command}`);
}

/** What the rules say of the person, and what the ID token would. */
async function trySignIn(
  ctx: Context,
  client: Client,
  { organization, role }: Standing,
  user: string,
): Promise<Finding<AccountClaims | null>> {
  const member = await findMember(ctx, organization.id, user);
  if (member === null) return wrong(`${user}: ${refusals.not_a_member}`, hints.not_a_member);
  // Security O8: such a membership tells the organization nothing of the account.
  if (member.pushed && role !== 'operator')
    return skipped(
      'provisioning added the address, and its domain is not verified',
      'Verify the domain, or name another member.',
    );
  const barred = await barredFrom(ctx, client, member.id);
  if (barred !== null) return wrong(`${user}: ${refusals[barred]}`, hints[barred]);
  const scopes = Object.keys(claimsByScope).join(' ');
  const { sid: _, ...claims } = await claimsOf(ctx, client, member.id, '', scopes);
  return found(claims, `${user} gets in`, `The ID token says: ${JSON.stringify(claims)}`);
}

const refusals: Record<Barred, string> = {
  not_a_member: 'access_denied, as no member of the organization has this address',
  account_disabled: 'access_denied, as the account is disabled',
  project_role_missing: 'access_denied, as the person lacks the role in the project',
};
const hints: Record<Barred, string> = {
  not_a_member: 'Add the person to the organization, or name another one.',
  account_disabled: 'Have the operator enable the account, or name another person.',
  project_role_missing: 'Give the person the role, or change what the client requires.',
};
