import { browserAt, enter } from '../support/forward-auth.ts';
import { type Client, createClient } from '../support/http.ts';
import type { Shot } from './load.ts';

/** An origin behind forward auth. */
export const protectedOrigin = 'https://app.example.test';

/** Opens the origin in a signed-in browser. Returns the request that a proxy then sends. */
export async function enterProtected(url: string, signedIn: Client): Promise<Shot> {
  const atHost = browserAt({ client: (options) => createClient(url, options) }, protectedOrigin);
  await enter(atHost, signedIn);
  const headers = {
    cookie: `__Host-idctl=${atHost.jar.get('__Host-idctl')}`,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': new URL(protectedOrigin).host,
  };
  return { path: '/auth/verify', headers, expect: 200 };
}
