import { createHash, randomBytes } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newSecret } from '../../../crypto/secret.ts';
import { Account } from '../../../database/models/account.ts';
import { Client } from '../../../database/models/client.ts';
import { rehearse } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { type Finding, found, right, type Take, wrong } from '../../../finding.ts';
import { keysOfIdTokens, listSigningKeys } from '../../foundation/keys/signing-key.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { beginSession, requireSession } from '../begin.ts';
import { ask } from './ask.ts';
import { encoded } from './inner.ts';
import { findLiveSession, type LiveSession } from './live-session.sql.ts';
import { scopes } from './policy.ts';

// Rehearses a whole sign-in at a client, with the requests of its application. It runs in this
// process, so it needs neither a password nor a secret. Everything except a new signing key is
// rolled back.

const hint = 'Look at the log of idctl. The application is not at fault.';

/** The data shared by the requests of one rehearsal. */
interface Rehearsal {
  ctx: Context;
  session: LiveSession;
  client: Client;
  /** The client's credentials. Only this rehearsal knows the secret. */
  proof: Record<string, string>;
}

/** Rehearses a sign-in of this account at a client with redirect URIs. */
export async function rehearseSignIn(
  ctx: Context,
  client: Client,
  accountId: string,
  take: Take,
): Promise<void> {
  // Creates a missing key now: one that the rehearsal created would be rolled back.
  await keysOfIdTokens(ctx);
  // Runs before the transaction, because this check does not write.
  const refused = await findRefusedUri(ctx, client);
  await rehearse(async () => {
    const begun = await take('session', 'a session of the person begins', () =>
      begin(ctx, accountId),
    );
    if (!begun.ok) return;
    const rehearsal = { ctx, session: begun.value, client, proof: await giveSecret(client) };
    const code = await take(
      'authorization',
      'each redirect URI is answered, and one gets a code',
      () => refused ?? authorize(rehearsal),
    );
    if (!code.ok) return;
    const tokens = await take('tokens', 'the code gives tokens that prove the person', () =>
      exchange(rehearsal, code.value),
    );
    if (!tokens.ok) return;
    await take('userinfo', 'it names the same person', () => readUserinfo(rehearsal, tokens.value));
    await take('refresh', 'the refresh token gives new tokens', () =>
      refresh(rehearsal, tokens.value),
    );
  });
}

/** Begins a session of the person, as a login link would. */
async function begin(ctx: Context, accountId: string): Promise<Finding<LiveSession>> {
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  const own = { ...ctx, client: { address: null, userAgent: null } };
  try {
    const { accessToken } = requireSession(
      await beginSession(own, account, { method: 'loginLink' }),
    );
    const session = await findLiveSession(ctx, String(decodeJwt(accessToken)['sid']));
    if (session === null) throw new Error('a session that has just begun is not live');
    return found(session, 'a session that is rolled back');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return wrong(error.message, error.hint ?? 'Name another person.');
  }
}

async function giveSecret(client: Client): Promise<Record<string, string>> {
  const named = { client_id: clientIdOf(client) };
  if (client.secretHash === null) return named;
  const { value, hash } = newSecret('cos_secret_');
  await Client.update({ secretHash: hash }, { where: { id: client.id } });
  return { ...named, client_secret: value };
}

/** A code, with the secrets of its authorization request. */
interface Code {
  code: string;
  redirectUri: string;
  verifier: string;
  nonce: string;
}

/** The fault of the first redirect URI that does not answer `login_required`, or null. */
async function findRefusedUri(ctx: Context, client: Client): Promise<Finding<never> | null> {
  for (const uri of client.redirectUris) {
    const { answer, said } = await request({ ctx, client, session: null }, uri);
    const error = answer?.get('error') ?? said;
    if (error !== 'login_required') return wrong(`${uri}: ${error}`, hint);
  }
  return null;
}

async function authorize(rehearsal: Rehearsal): Promise<Finding<Code>> {
  const [redirectUri] = rehearsal.client.redirectUris;
  if (redirectUri === undefined) return wrong('the client has no redirect URI', hint);
  const { answer, said, verifier, nonce } = await request(rehearsal, redirectUri);
  const code = answer?.get('code');
  if (!code) return wrong(`${redirectUri}: ${answer?.get('error') ?? said}`, hint);
  return found({ code, redirectUri, verifier, nonce }, 'a code');
}

/** Sends an authorization request. The answer is null unless it came to the redirect URI. */
async function request(
  { ctx, client, session }: Pick<Rehearsal, 'ctx' | 'client'> & { session: LiveSession | null },
  redirectUri: string,
) {
  const [verifier, nonce, state] = [random(), random(), random()];
  const query = encoded({
    client_id: clientIdOf(client),
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'none',
  });
  const { location, said } = await ask({ ctx, session }, { url: `/oauth/authorize?${query}` });
  const params = location.startsWith(redirectUri) ? URL.parse(location)?.searchParams : undefined;
  return { answer: params?.get('state') === state ? params : null, said, verifier, nonce };
}

const tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  id_token: z.string(),
});
type Tokens = z.output<typeof tokens>;

async function exchange(rehearsal: Rehearsal, given: Code): Promise<Finding<Tokens>> {
  const { code, redirectUri, verifier, nonce } = given;
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
  const answer = await askTokens(rehearsal, { ...grant, code_verifier: verifier });
  if (!answer.ok) return answer;
  const claims = await readIdToken(rehearsal, answer.value.id_token);
  if (claims?.sub !== rehearsal.session.accountId || claims['nonce'] !== nonce)
    return wrong('the ID token is not valid for this client', hint);
  return found(answer.value, `an ID token signed with ${rehearsal.client.idTokenAlg}`);
}

/** Checks an ID token as the application would; null if it is not valid. */
async function readIdToken({ ctx, client }: Rehearsal, token: string): Promise<JWTPayload | null> {
  const keys = (await listSigningKeys()).map(({ publicJwk }) => publicJwk);
  const wanted = {
    issuer: ctx.config.baseUrl,
    audience: clientIdOf(client),
    algorithms: [client.idTokenAlg],
    currentDate: ctx.now,
  };
  return jwtVerify(token, createLocalJWKSet({ keys }), wanted).then(
    ({ payload }) => payload,
    () => null,
  );
}

async function readUserinfo(rehearsal: Rehearsal, given: Tokens): Promise<Finding> {
  const authorization = `Bearer ${given.access_token}`;
  const { body, said } = await ask(rehearsal, { url: '/oauth/userinfo', authorization });
  const { data } = z.object({ sub: z.string() }).safeParse(body);
  return data?.sub === rehearsal.session.accountId ? right('the same person') : wrong(said, hint);
}

async function refresh(rehearsal: Rehearsal, given: Tokens): Promise<Finding> {
  const grant = { grant_type: 'refresh_token', refresh_token: given.refresh_token };
  const answer = await askTokens(rehearsal, grant);
  return answer.ok ? right('new tokens') : answer;
}

async function askTokens(
  rehearsal: Rehearsal,
  grant: Record<string, string>,
): Promise<Finding<Tokens>> {
  const form = { ...rehearsal.proof, ...grant };
  const { body, said } = await ask(rehearsal, { url: '/api/v1/oauth/token', form });
  const { data } = tokens.safeParse(body);
  return data === undefined ? wrong(said, hint) : found(data, 'tokens');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}
