import { registerApp } from '../../src/services/people/apps/operations.ts';
import { person } from './builders.ts';
import type { Idctl } from './idctl.ts';

const tokenPath = '/api/v1/oauth/token';

interface Given {
  user?: string;
  name?: string;
  /** The organization that the app introspects tokens for; the account administers it. */
  organization?: string;
}

/** Registers an app of a new person, or of `user`, with functions that request its tokens. */
export async function appOf(idctl: Pick<Idctl, 'operator' | 'client'>, given: Given = {}) {
  const user = given.user ?? (await person(idctl)).id;
  const app = await registerApp(idctl.operator(), { name: 'builder', ...given, user });
  const credentials = { client_id: app.clientId, client_secret: app.clientSecret };
  const ask = (form: Record<string, string> = {}) =>
    idctl.client().form(tokenPath, { grant_type: 'client_credentials', ...credentials, ...form });
  const mint = async (): Promise<string> => {
    const answer = await ask();
    if (answer.status !== 200) throw new Error(`the token endpoint answered ${answer.status}`);
    return answer.body.access_token;
  };
  return { ...app, user, credentials, ask, mint };
}

/** The Authorization header of a client, both halves form-encoded (RFC 6749 §2.3.1). */
export function basic(id: string, secret: string): { authorization: string } {
  const encoded = (text: string) => encodeURIComponent(text).replace(/[-_.!~*'()]/g, hex);
  const hex = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return {
    authorization: `Basic ${Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString('base64')}`,
  };
}
