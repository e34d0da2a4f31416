import { createHash } from 'node:crypto';
import { ProviderRecord } from '../../src/database/models/provider-record.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { Answer } from '../support/http.ts';
import type { Idctl } from '../support/idctl.ts';
import { redirect, verifier } from './kill-client.ts';

// Ada signed in to an application by OpenID Connect, in her password session.

type Instance = Pick<Idctl, 'client'>;

const day = 86_400;

/** Signs Ada in to the application twice: for tokens, and for a code that stays unused. */
export async function playApplication(
  idctl: Instance,
  { clientId, secret }: { clientId: string; secret: string },
  byPassword: string,
) {
  const client = { client_id: clientId, client_secret: secret };
  const spent = await authorize(idctl, client.client_id, byPassword);
  const tokens = await redeem(idctl, client, spent);
  const code = await authorize(idctl, client.client_id, byPassword);
  await prolong();
  const { access_token: access, refresh_token: refresh } = tokens.body;
  return { client, code, access: String(access), refresh: String(refresh) };
}

type Application = Awaited<ReturnType<typeof playApplication>>;

interface Stage {
  idctl: Instance;
  scene: { application: Application };
}

async function authorize(idctl: Instance, clientId: string, session: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirect,
    scope: 'openid offline_access',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const headers = { cookie: `access_token=${session}`, accept: 'text/html' };
  const answer = await idctl.client().get(`/oauth/authorize?${query}`, headers);
  return new URL(String(answer.headers['location'])).searchParams.get('code') ?? '';
}

const token = (idctl: Instance, fields: Record<string, string>) =>
  idctl.client().form('/api/v1/oauth/token', fields);

function redeem(idctl: Instance, client: Application['client'], code: string): Promise<Answer> {
  const given = { ...client, redirect_uri: redirect, code, code_verifier: verifier };
  return token(idctl, { ...given, grant_type: 'authorization_code' });
}

/** Lets all codes and tokens expire in a day, so that none expires while the tests run. */
async function prolong(): Promise<void> {
  for (const row of await ProviderRecord.findAll()) {
    const exp = Math.floor(Date.now() / 1000) + day;
    // The package stores only objects.
    const payload = { ...(row.payload as object), exp };
    await transaction(() => row.update({ payload, expiresAt: new Date(exp * 1000) }));
  }
}

/** Whether the code still works. */
export async function codeWorks({ idctl, scene: { application } }: Stage): Promise<boolean> {
  return (await redeem(idctl, application.client, application.code)).status === 200;
}

/** Whether the access token still works. */
export async function accessWorks({ idctl, scene: { application } }: Stage): Promise<boolean> {
  const by = { authorization: `Bearer ${application.access}` };
  return (await idctl.client().get('/oauth/userinfo', by)).status === 200;
}

/** Whether the refresh token still works. */
export async function refreshWorks({ idctl, scene: { application } }: Stage): Promise<boolean> {
  const { client, refresh } = application;
  const given = { ...client, grant_type: 'refresh_token', refresh_token: refresh };
  return (await token(idctl, given)).status === 200;
}
