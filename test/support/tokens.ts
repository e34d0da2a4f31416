import { createToken } from '../../src/services/people/tokens/operations.ts';
import { person, signedIn } from './builders.ts';
import type { Answer } from './http.ts';
import type { Idctl } from './idctl.ts';

/**
 * Creates a token of a new person, or of `given.user`, with a function that sends `GET /me` with
 * it.
 */
export async function tokenOf(
  idctl: Idctl,
  given: Partial<Parameters<typeof createToken>[1]> = {},
) {
  const user = given.user ?? (await person(idctl)).id;
  const made = await createToken(idctl.operator(), { user, name: 'ci', ...given });
  return { ...made, user, use: () => useToken(idctl, made.token) };
}

/** Sends `GET /me` with a token. */
export function useToken(idctl: Idctl, token: string): Promise<Answer> {
  return idctl.client().get('/api/v1/me', { authorization: `Bearer ${token}` });
}

/** Creates a person who is signed in with the password. */
export async function signedInPerson(idctl: Idctl) {
  const { id, email } = await person(idctl);
  return { ...(await signedIn(idctl, email)), id, email };
}
