import { decodeJwt } from 'jose';
import { onTestFinished } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { transaction } from '../../src/database/transaction.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { password } from './builders.ts';
import { type Client, createClient } from './http.ts';
import { type Idctl, openIdctl } from './idctl.ts';
import { keepPasskey } from './passkeys.ts';

/** Opens an instance until the test ends. A process can have one at a time. */
export async function openInstance(...given: Parameters<typeof openIdctl>): Promise<Idctl> {
  const idctl = await openIdctl(...given);
  onTestFinished(() => idctl.close());
  return idctl;
}

/** A person with an account and a live session. */
export interface Person extends Client {
  id: string;
  email: string;
  accessToken: string;
  /** The id of another live session of the person. */
  spareSession: string;
  /** The id of a token of the person. */
  spareToken: string;
  /** The id of a passkey of the person. */
  sparePasskey: string;
  /** The id of an app of the person. */
  spareApp: string;
}

/** Creates an account with a password and a session, and a client with its access token. */
export async function signedInAs({ operator, baseUrl }: Idctl, email: string): Promise<Person> {
  const { id } = await createUser(operator(), {
    email,
    name: email.slice(0, email.indexOf('@')),
    password,
  });
  const begin = () =>
    transaction(async () =>
      requireSession(
        await beginSession(operator(), await Account.findByPk(id, { rejectOnEmpty: true }), {
          method: 'password',
        }),
      ),
    );
  const { accessToken } = await begin();
  const spare = decodeJwt((await begin()).accessToken);
  const client = createClient(baseUrl, { headers: { authorization: `Bearer ${accessToken}` } });
  const spareToken = (await createToken(operator(), { user: id, name: 'spare' })).id;
  const spareApp = (await registerApp(operator(), { user: id, name: 'spare' })).id;
  const sparePasskey = await keepPasskey(id);
  return {
    ...client,
    id,
    email,
    accessToken,
    spareSession: String(spare['sid']),
    spareToken,
    sparePasskey,
    spareApp,
  };
}
