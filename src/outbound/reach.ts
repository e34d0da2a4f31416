import type { SecureContext } from 'node:tls';
import { trustedClient } from './http.ts';
import type { Limits } from './limits.ts';
import type { Reached } from './outbound.ts';

/** Asks an address that the operator configured; a status of any kind and a redirect are answers. Refuses `upstream_failed`. */
export async function reach(url: string, roots: SecureContext | undefined, limits: Limits): Promise<Reached> {
  const client = trustedClient(roots, limits);
  try {
    const response = await client.fetch(url, { redirects: 'show' });
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      body: await response.text(),
      date: Number.isNaN(date) ? null : new Date(date),
    };
  } finally {
    await client.close();
  }
}
