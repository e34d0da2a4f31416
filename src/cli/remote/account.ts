import { z } from 'zod';
import { openRemoteClient, type RemoteClient } from './client.ts';
import type { Server } from './find.ts';
import { serverFailed } from './refusals.ts';

/** The account that a token belongs to, as `GET /api/v1/me` shows it. */
const account = z.looseObject({
  id: z.string(),
  email: z.string().nullable(),
  organizations: z.array(z.looseObject({ id: z.string() })),
});

type Account = z.output<typeof account>;

/** Asks the server for the account of the token, over a new connection. */
export async function whoIs(server: Server): Promise<Account> {
  const client = openRemoteClient(server);
  try {
    return await readAccount(client);
  } finally {
    await client.close();
  }
}

/** Asks the server for the account of the client's token. Throws the server's refusals. */
export async function readAccount({ ask }: Pick<RemoteClient, 'ask'>): Promise<Account> {
  const found = account.safeParse(await ask({ method: 'GET', path: '/api/v1/me' }));
  if (found.success) return found.data;
  throw serverFailed('The server did not name the account of this token.', {
    hint: 'Use an idctl of the same version as the server.',
  });
}

/** The ids of the organizations that the account of the client's token belongs to. */
export async function organizationsOf(client: Pick<RemoteClient, 'ask'>): Promise<string[]> {
  return (await readAccount(client)).organizations.map(({ id }) => id);
}
